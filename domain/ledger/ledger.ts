/** The ledger's entry types: spec.md "Ledger entry". */
export const ledgerEntryTypes = [
  'processor_topup',
  'auto_topup',
  'rental_charge',
  'refund',
  'adjustment',
] as const;
export type LedgerEntryType = (typeof ledgerEntryTypes)[number];

export interface ChainedEntry {
  readonly amountCents: number;
  readonly balanceAfterCents: number;
}

/**
 * Finds a break of the reconciliation rule (spec.md): newest first, each entry's balance is its amount plus the balance
 * after the entry before it; the very first starts from 0.
 * @param reachesFirst whether the list's last entry is the wallet's first one
 * @returns the index of the first entry that breaks the rule, or undefined when all hold
 */
export function firstBrokenLink(
  newestFirst: readonly ChainedEntry[],
  reachesFirst: boolean,
): number | undefined {
  const broken = newestFirst.findIndex((entry, index) => {
    const older = newestFirst[index + 1];
    if (older === undefined) return reachesFirst && entry.balanceAfterCents !== entry.amountCents;
    return entry.balanceAfterCents !== entry.amountCents + older.balanceAfterCents;
  });
  return broken === -1 ? undefined : broken;
}
