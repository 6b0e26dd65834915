import { DAY } from '../durations.js';

/** Limits of the feed of events (decision 99, "One feed of events"); durations in milliseconds. */
export const eventLimits = {
  /** From one look of the sequencer at the outbox to the next, while nothing waits there. */
  sequenceEveryMs: 100,
  /** Events that one transaction of the sequencer moves at most. */
  sequenceBatch: 5_000,
  /** What a user's numbers jump by after a restore: more than they can have been given in the lost time. */
  restoredStep: 1_000_000,
  /** How long an event can be read. */
  keptMs: 30 * DAY,
} as const;
