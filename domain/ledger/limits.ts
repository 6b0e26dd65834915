import { MINUTE, SECOND } from '../durations.js';

/** Limits of the ledger's seals (decision 139, "Seals of the ledger"). */
export const ledgerLimits = {
  /** How many entries a seal holds at most, and how many it waits for but once a day. */
  sealEntries: 1_000,
  /** How often a round of a walk over all wallets begins, and how long it works at most. */
  sealEveryMs: 60 * SECOND,
  sealRoundMs: 20 * SECOND,
  /**
   * How long a walk rests after the one before it, but for a day's first. It changes most pages of the newest rows, and the
   * first change of a page after a checkpoint logs all of it; a look at a wallet costs as much as some entries.
   */
  sealRestMs: 59 * MINUTE,
  /** How many wallets are looked at by one statement, and how many are sealed by one. */
  sealSpan: 10_000,
  sealAtOnce: 50,
} as const;
