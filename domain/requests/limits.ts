import { DAY, MINUTE, SECOND } from '../durations.js';

/** The limits of any request to the API: its size, its cost and its waits. Durations are milliseconds. */
export const requestLimits = {
  /** spec: Limits. */
  pageSizeDefault: 50,
  pageSizeMax: 200,

  /**
   * Requests in a minute (decision 12, "Allowed origins", and decision 58, "Limits of requests"): reads of one session
   * and of all sessions of a user, changes of a user, and all of one client address without a session. Of a user's changes
   * the API keys together may make a part, stops apart: the rest is left to whoever signs in.
   */
  requestWindowMs: MINUTE,
  readsPerMinute: 600,
  readsPerMinuteOfUser: 3_000,
  changesPerMinute: 60,
  changesPartOfKeys: 1 / 2,
  strangersPerMinute: 300,

  /**
   * Decision 97, "Requests under way": the number of one caller's requests that are under way at once in one process,
   * reads and changes apart; how many others wait for their turn, how many of an address wait for their look-up, which
   * takes a millisecond, and for how long.
   */
  requestsAtOnce: 4,
  requestsWaiting: 64,
  lookUpsWaiting: 1_000,
  requestTurnWaitMs: 5 * SECOND,

  /**
   * Decision 129, "Unread answers": how many files are sent at once to the API keys of a user, to the user in all, and
   * by one process; how much of an answer its reader must take in each stretch in which we wait for them; how often it
   * is asked whether the reader may still have it.
   */
  downloadsOfKeys: 2,
  downloadsOfUser: 4,
  downloadsOfProcess: 64,
  takenBytes: 16 * 1024,
  takenWithinMs: 30 * SECOND,
  askAgainMs: 2 * SECOND,

  /** How many requests of one user may wait for their turn at the wallet in one process, and for how long. */
  userTurnsWaiting: 8,
  userTurnWaitMs: 5 * SECOND,

  /**
   * Decision 83, "Cost of one caller": what a request may hold before it is validated, and how many of its faults an
   * answer names.
   */
  bodyMaxBytes: 16 * 1024,
  bodyMaxDepth: 8,
  bodyMaxFields: 64,
  bodyMaxItems: 200,
  queryMaxChars: 4_096,
  queryMaxParameters: 32,
  faultsTold: 20,
  faultMaxChars: 200,
  /** The processor's events are larger; their signature is read first. */
  eventMaxBytes: 512 * 1024,

  /**
   * Decision 130, "Work for strangers": how many bytes of bodies without a session one process reads at once, and one
   * address sends; how long one of them may take to arrive while others want its place; how many requests may wait on
   * one connection for the one before.
   */
  strangersBytes: 8 * 1024 * 1024,
  strangersBytesOfAddress: 1024 * 1024,
  strangersBodyMs: 2 * SECOND,
  pipelined: 16,

  /** Decision 6, "Idempotent retries": idempotency keys. */
  idempotencyKeyMaxChars: 255,
  idempotencyKeptMs: DAY,
  idempotencyWaitMs: 20 * SECOND,

  /**
   * Decision 4, "Promise of a 503": the last moment at which an opening may still commit, and how long the API waits
   * beyond it.
   */
  answerWithinMs: 20 * SECOND,
  answerGraceMs: 2 * SECOND,
} as const;
