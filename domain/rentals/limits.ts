import { DAY, HOUR, MINUTE, SECOND } from '../durations.js';

/** What a rental may be asked for, how it opens, and what is refunded of a lost machine. Durations are milliseconds. */
export const rentalLimits = {
  /** spec: Limits. */
  nameMaxChars: 64,
  autoStopMaxHours: 720,

  /** Opening a rental (decision 19, "Order of an opening", to decision 22, "Machines of nobody"). */
  openTries: 5,
  openBudgetMs: 15 * SECOND,
  /** What must be left of it for another try, and of the caller's time for the rest of the opening. */
  openTryMinMs: SECOND,
  openFinishMs: 1_500,
  openLockWaitMs: 5 * SECOND,
  openMaxDearerPercent: 10,
  unknownLookMs: 3 * SECOND,
  unknownFindMs: MINUTE,
  attemptOpenMs: 5 * MINUTE,
  maxLiveRentals: 20,
  /**
   * Decision 83, "Cost of one caller": machines of a user that are not billed, in an hour, after
   * which the next create waits.
   */
  freeMachinesPerHour: 10,

  /**
   * What a rental's workflow says about how long a machine may take until its SSH daemon answers: where it says just
   * this, the attempt's own deadline holds (decision 76, "Boot deadlines and fit"). The longest of those.
   */
  provisionDeadlineMs: 10 * MINUTE,
  provisionDeadlineMaxMs: 90 * MINUTE,

  /** The dead man's switch at the upstreams: how long beyond the wallet's money, and how far ahead at most. */
  deadManMarginMs: HOUR,
  deadManMaxMs: 30 * DAY,
  deadManRenewEveryMs: 5 * MINUTE,

  /**
   * Decision 27, "Refund of failed machines": refund window of a machine that was lost.
   */
  refundWindowMs: MINUTE,
  fullRefundsPerDay: 5,
} as const;
