import { MINUTE, SECOND } from '../durations.js';

/** Limits of the streams of events (decision 100, "Feed and stream"); durations in milliseconds. */
export const streamLimits = {
  /** Streams of one user, over all API processes. */
  ofUser: 10,
  /** From one look for new events to the next, while somebody is connected; longer after looks that failed. */
  lookEveryMs: 100,
  lookAgainMaxMs: SECOND,
  /** Events that one look reads at most; a full one is followed by the next at once. */
  lookBatch: 1_000,
  /** Events that one page of catching up reads. */
  pageSize: 200,
  /** Pages that one process reads at once, so that those who catch up leave connections to others. */
  pagesAtOnce: 4,
  /** From one look at balances and meters to the next: nobody is told more often. */
  stateEveryMs: SECOND,
  /** From one look at ended sessions to the next. */
  watchEveryMs: SECOND,
  /** A sign of life to clients, and to whatever lies between. */
  commentEveryMs: 15 * SECOND,
  /** What may wait in this process for a client that does not read, and how long one may take to read a page. */
  unsentMaxBytes: 256 * 1_024,
  drainMs: 15 * SECOND,
  /** After how long a client tries again whose stream was cut: a random time between these. */
  retryMinMs: SECOND,
  retryMaxMs: 5 * SECOND,
  /** The same for one that made room for a newer stream of its user: at once, it would push out the next. */
  crowdedRetryMinMs: 30 * SECOND,
  crowdedRetryMaxMs: MINUTE,
  /** How often a process says that it lives, and for how long it is believed. */
  hostSeenEveryMs: 5 * SECOND,
  hostLivesMs: 15 * SECOND,
} as const;
