import { DAY, HOUR, MINUTE, SECOND } from '../durations.js';
import type { FreeMachineLimits } from './free-machines.js';

/**
 * The limits of a rental's request, of its opening, and of the refund of a lost machine. Durations are milliseconds.
 */
export const rentalLimits = {
  /** Decision 108, "API keys": public keys of one rental alone. */
  maxOwnPublicKeys: 10,

  /** spec: Limits. */
  nameMaxChars: 64,
  autoStopMaxHours: 720,
  maxLimitCents: 1_000_000_000,
  /** How long before the end of its machine's contract a rental ends. */
  contractMarginMs: 10 * MINUTE,
  /** Decision 105, "Changed rentals". */
  labelsMax: 10,
  labelValueMaxChars: 255,

  /** How long before its machine ends by a limit, or at its upstream, a user is warned. */
  warnBeforeMs: 15 * MINUTE,

  /** Decision 104, "Quotes and alternatives": how long a quoted price holds, and how many alternatives are told. */
  quoteMs: MINUTE,
  alternatives: 3,

  /** Opening a rental (decision 19, "Order of an opening", to decision 22, "Machines of nobody"). */
  openTries: 5,
  openBudgetMs: 15 * SECOND,
  /** The time that must be left of it for another try, and of the caller's time for the rest of the opening. */
  openTryMinMs: SECOND,
  openFinishMs: 1_500,
  openLockWaitMs: 5 * SECOND,
  openMaxDearerPercent: 10,
  unknownLookMs: 3 * SECOND,
  unknownFindMs: MINUTE,
  attemptOpenMs: 5 * MINUTE,
  /** Decision 158, "Machines in turn": how long a purchase waits for its turn. */
  queueMs: 2 * MINUTE,
  maxLiveRentals: 20,
  /** Decision 83, "Cost of one caller". */
  freeMachines: {
    freeCents: 100,
    paidShare: 0.1,
    comingUpShare: 0.1,
    minMs: MINUTE,
    slowBootMs: 3 * MINUTE,
    newAccountMs: DAY,
  } satisfies FreeMachineLimits,

  /**
   * The time that a rental's workflow gives a machine until its SSH daemon answers: where it gives just this, the
   * attempt's own deadline holds (decision 76, "Boot deadlines and fit"). The second is the longest of those.
   */
  provisionDeadlineMs: 10 * MINUTE,
  provisionDeadlineMaxMs: 90 * MINUTE,

  /** The dead man's switch at the upstreams: how long beyond the wallet's money, and how far ahead at most. */
  deadManMarginMs: HOUR,
  deadManMaxMs: 30 * DAY,
  deadManRenewEveryMs: 5 * MINUTE,

  /** Decision 27, "Refund of failed machines": the refund window of a lost machine. */
  refundWindowMs: MINUTE,
  fullRefundsPerDay: 5,
} as const;
