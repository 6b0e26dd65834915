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
]);

const quiet: Loop = { name: 'itself', isAhead: false, dueMs: undefined, calm: 0, seen: -1, isResting: false };

/**
 * How long one activity of a loop runs here, in milliseconds: a parameter of the product's own loops. Rests end with it,
 * so the quarter of an hour of the product would make quiet months dear.
 */
export const LOOP_RUN_MS = 3 * 3_600_000;

/** Tells whether a workflow is one of the loops. */
export function isLoop(type: string): boolean {
  return type !== 'watermark' && quietTypes.has(type);
}

/** Returns the scope of the tasks of a kind of workflow. */
export function scopeOf(type: string): Scope {
  return quietTypes.has(type) ? { loop: quiet } : {};
}
