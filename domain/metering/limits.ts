import { HOUR, MINUTE, SECOND } from '../durations.js';

/** How often running rentals are charged, and what happens to those that can't be. Durations are milliseconds. */
export const meteringLimits = {
  /** Design: metering. */
  tickEveryMs: SECOND,
  meterRunMs: 15 * MINUTE,
  /**
   * Decision 26, "End of the money": how late a tick may be and still end a rental at the instant
   * the money ended.
   */
  tickLateMs: 5 * SECOND,
  topupWaitMs: 30 * SECOND,
  /**
   * Decision 78, "Check of settled rentals": how long a stop may take from its instant to its commit. A tick in between
   * does not know of it.
   */
  stopCommitMs: MINUTE,

  /**
   * A wallet whose metering somebody held up is left alone for this long: the others' ticks go on (decision 73, "Turns
   * at the wallet").
   */
  heldUpRestMs: 10 * SECOND,
  /** The wait before a wallet that somebody else has locked is asked anew. */
  busyWalletRetryMs: SECOND,
  /**
   * Decision 29, "Broken wallets": a wallet that can't be metered for this long loses its machines.
   */
  blockedForMs: 10 * MINUTE,

  /** A running rental settles itself at least this often, whatever the tick engine does (second belt). */
  beltMs: HOUR,
  /** With a large fleet the rounds are further apart, so that no more than this many fire in a second. */
  beltRoundsPerSecond: 3,

  /** A user is warned when the wallet lasts for fewer minutes than this at the present burn. */
  lowBalanceMinutes: 60,
} as const;
