import type { Loop } from '../kernel/loop.js';
import type { Scope } from '../kernel/scope.js';

/** Workflows that go on by themselves: what they do is no reason for any loop to look. */
const quietTypes = new Set([
  'watermark',
  'meter',
  'providerWatch',
  'mailer',
  'sequencer',
  'upkeep',
  'webhookWaker',
  'reconcile',
  'backfill',
]);
/** Those of them that schedules start. */
const scheduledTypes = new Set(['reconcile', 'backfill']);

/** Duties that ask some sixty statements each round, and that nobody waits for: their minute becomes this, in milliseconds. */
const patience: Readonly<Record<string, number>> = {
  'runUpkeep housekeeping': 5 * 60_000,
  'runUpkeep reliability': 15 * 60_000,
};

/** Returns a loop that has not begun. */
export function newLoop(name: string, { isAhead }: { isAhead: boolean }): Loop {
  const state = { dueMs: undefined, calm: 0, seen: -1, isResting: false };
  return { name, isAhead, patienceMs: patience[name] ?? 0, ...state };
}

const quiet = newLoop('itself', { isAhead: false });

/**
 * How long one activity of a loop runs here, in milliseconds: a parameter of the product's own loops. Rests end with it,
 * so the quarter of an hour of the product would make quiet months dear.
 */
export const LOOP_RUN_MS = 3 * 3_600_000;

/** Tells whether a workflow is one of the loops. */
export function isLoop(type: string): boolean {
  return type !== 'watermark' && quietTypes.has(type) && !scheduledTypes.has(type);
}

/** The scope of what the server does by itself. */
export const quietScope: Scope = { loop: quiet };

/** Returns the loop that the activities of a kind of workflow belong to: what scheduled ones write is for themselves. */
export function loopOfScheduled(type: string): Loop | undefined {
  return scheduledTypes.has(type) ? quiet : undefined;
}

/** Returns the scope of the tasks of a kind of workflow. */
export function scopeOf(type: string): Scope {
  return quietTypes.has(type) ? quietScope : {};
}
