import { DAY, HOUR, MINUTE, SECOND } from '../durations.js';

/**
 * The limits of the service's own work: retries, signals, upkeep, reconcile, and operators' orders. Durations are
 * milliseconds.
 */
export const operationLimits = {
  /**
   * The most that one login may order alone in 24 hours, in cents; above it a second operator approves (decision 87,
   * "Operator orders").
   */
  orderSingleLimitCents: 50_000,

  /**
   * Decision 69, "Items that fail": the pauses between tries of a failing item, the number of tries after which it is
   * set aside, and the pause then.
   */
  retryBaseMs: 10 * SECOND,
  retryMaxMs: 15 * MINUTE,
  triesUntilSetAside: 12,
  setAsideRetryMs: HOUR,
  /** A mail that nobody took for so long is tried no more: longer than a debt's reminders are due. */
  mailGivenUpMs: 40 * DAY,
  /**
   * Decision 95, "Outages of a peer": the longest pause of an item that fails because its peer answers nobody. Each try
   * may take a signal, of which a run has `looksPerDay`.
   */
  unansweredRetryMaxMs: 2 * MINUTE,
  /**
   * From then on any answer of the peer shows that the peer is there, even where nobody else makes the failing call.
   */
  aloneAtPeerMs: 6 * HOUR,
  /** A look of a workflow that fails this often at once is tried again later, as every failure. */
  quickTries: 5,

  /**
   * The server takes 10,000 signals per run and then refuses all. A run is told once until it has looked, again after
   * this when it did not look, and this often in a day (auto-topup's cooldown alone takes 288).
   */
  lookUnhandledMs: MINUTE,
  looksPerDay: 1_000,

  /**
   * A run whose workflow task failed or timed out this often in a row does not go on by itself. The second is how many
   * open runs one round of the upkeep asks about, beside those that have a signal and did not look.
   */
  failingTaskTries: 5,
  runsAskedAtOnce: 200,

  /** A processor event that was stored but not handled is delivered again when it is older than this. */
  eventRedeliverMs: 10 * SECOND,
  /** How often the other duties of the upkeep come round. */
  reviveEveryMs: 30 * SECOND,
  /** A row without a workflow that is younger than this may be about to get it. */
  reviveAfterMs: 15 * SECOND,
  sweepEveryMs: MINUTE,
  housekeepingEveryMs: MINUTE,
  reliabilityEveryMs: MINUTE,

  /**
   * Decision 62, "Comparison of the books": how far back a run of reconcile looks, what counts as still in flight, how
   * long a difference must last within the run, and how many pages and single questions one source may cost in a run.
   */
  reconcileWindowMs: 2 * HOUR,
  reconcileOverlapMs: 10 * MINUTE,
  reconcileGraceMs: 2 * MINUTE,
  reconcileConfirmMs: 15 * SECOND,
  /** How often a source is asked before it counts as not compared. */
  reconcileTries: 3,
  reconcilePages: 20_000,
  reconcileLookups: 1_000,
  /**
   * This many items of a pass of reconcile, or of a restore, may fail. More are rather the fault of something that all
   * of them need.
   */
  failedItemsOfPass: 20,
  /** This many of each list of a look at a restored database are named; the others are counted. */
  restoreNamed: 100,
  /** From then on operators are told that a source was not compared in full. */
  reconcileFullOverdueMs: 2 * DAY,
} as const;
