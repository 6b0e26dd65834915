const SECOND = 1_000;

/** Limits of the ledger's seals (decision 139, "Seals of the ledger"). */
export const ledgerLimits = {
  /** How many entries a seal holds at most, and how many it waits for but once a day. */
  sealEntries: 1_000,
  /** How often a walk over all wallets begins, and how long a round of it works at most. */
  sealEveryMs: 60 * SECOND,
  sealRoundMs: 20 * SECOND,
  /** How many wallets are looked at by one statement. */
  sealSpan: 10_000,
} as const;
