import type { Habits } from '../world/dialects.js';

/** Where a worker is killed: at a statement of one of its activities, or while an upstream answers it. */
export interface KillPoint {
  readonly phase: string;
  /** The activity. */
  readonly duty: string;
  /** The statement; or the call of the upstream that takes effect, and whose answer nobody hears. */
  readonly at: RegExp | 'allocate' | 'terminate';
  readonly when: 'before' | 'after';
}

const attempt = /^\s*insert into allocation_attempts/i;
const commit = /(^|;)\s*commit\b/i;
const anything = /\S/;

/** The phases after which whoever follows asks the upstream what it sold or ended. */
const atUpstream: readonly KillPoint[] = [
  { phase: 'opening, once the purchase is on record', duty: 'openRental', at: attempt, when: 'after' },
  { phase: 'opening, while the upstream sells', duty: 'openRental', at: 'allocate', when: 'after' },
  { phase: 'opening, before its commit', duty: 'openRental', at: commit, when: 'before' },
  { phase: 'queued or looked for, while the upstream sells', duty: 'findPod', at: 'allocate', when: 'after' },
  { phase: 'queued or looked for, before a commit', duty: 'findPod', at: commit, when: 'before' },
  { phase: 'end of the machine', duty: 'endPods', at: anything, when: 'before' },
  {
    phase: 'end of the machine, while the upstream ends it',
    duty: 'endPods',
    at: 'terminate',
    when: 'after',
  },
];

/** The phases after which whoever follows goes by rows alone, and every upstream is the same to it. */
const atRows: readonly KillPoint[] = [
  { phase: 'opening, before the purchase is on record', duty: 'openRental', at: attempt, when: 'before' },
  { phase: 'opening, after its commit', duty: 'openRental', at: commit, when: 'after' },
  { phase: 'queued or looked for', duty: 'findPod', at: anything, when: 'before' },
  { phase: 'queued or looked for, after a commit', duty: 'findPod', at: commit, when: 'after' },
  { phase: 'booting', duty: 'awaitPod', at: anything, when: 'after' },
  { phase: 'answered, before its commit', duty: 'awaitPod', at: commit, when: 'before' },
  { phase: 'answered, after its commit', duty: 'awaitPod', at: commit, when: 'after' },
  { phase: 'start of billing, before its commit', duty: 'startMetering', at: commit, when: 'before' },
  { phase: 'start of billing, after its commit', duty: 'startMetering', at: commit, when: 'after' },
  { phase: 'end of billing, before its commit', duty: 'settleRental', at: commit, when: 'before' },
  { phase: 'end of billing, after its commit', duty: 'settleRental', at: commit, when: 'after' },
  { phase: 'close', duty: 'closeRental', at: anything, when: 'after' },
];

/** One dialect is enough for these; at this one machines wait for their turn, so that nothing is left out. */
const rowsAt: Habits['name'] = 'lambda';

/**
 * Returns the phases in which a worker is killed at upstreams of one dialect, each from the opening of a rental until its
 * machine is gone. Where no machine waits for its turn, none is looked for.
 */
export function killPointsAt({ name, createEveryMs }: Habits): readonly KillPoint[] {
  const points = name === rowsAt ? [...atUpstream, ...atRows] : atUpstream;
  return createEveryMs === undefined ? points.filter(({ duty }) => duty !== 'findPod') : points;
}
