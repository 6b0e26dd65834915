import type { Spending, SpendingSum } from '../../adapters/postgres/ledger/spending-reads.js';
import { groupedBy } from '../../domain/grouped.js';
import type { RentalId } from '../../domain/ids.js';
import { spendingLimits } from '../../domain/spending/limits.js';
import type { LedgerEntry } from '../../adapters/postgres/ledger/ledger-reads.js';
import type { Account } from './account.js';

type Sums = Omit<SpendingSum, 'day' | 'rental' | 'rentals'>;

/** What rentals cost between two instants, by day, as the service reads it from its ledger. */
export function readSpending(
  { wallet: { entries }, rentals }: Account,
  { from, to }: { readonly from: Date; readonly to: Date },
): Spending {
  const within = entries.filter(({ createdAt }) => createdAt >= from && createdAt < to);
  const balanceBefore = (at: Date): number =>
    entries.findLast(({ createdAt }) => createdAt < at)?.balanceAfterCents ?? 0;
  const named = (rentalId: RentalId): SpendingSum['rental'] => {
    const row = rentals.find(({ row: { id } }) => id === rentalId)?.row;
    return row ? { rentalId, name: row.name, family: row.family, gpuCount: row.gpu_count } : null;
  };
  return {
    openingBalanceCents: balanceBefore(from),
    closingBalanceCents: balanceBefore(to),
    sums: [...groupedBy(within, ({ createdAt }) => createdAt.toISOString().slice(0, 10))].flatMap(
      ([date, ofDay]) => sumsOfDay(ofDay, named).map((sum) => ({ ...sum, day: new Date(date) })),
    ),
  };
}

function sumsOfDay(
  entries: readonly LedgerEntry[],
  named: (rentalId: RentalId) => SpendingSum['rental'],
): Omit<SpendingSum, 'day'>[] {
  const byRental = [...groupedBy(entries, ({ rentalId }) => rentalId)].map(([rentalId, ofRental]) => ({
    ...{ rental: rentalId === null ? null : named(rentalId), rentals: rentalId === null ? 0 : 1 },
    ...sumsOf(ofRental),
  }));
  const ofRentals = byRental
    .filter(({ rentals }) => rentals > 0)
    .toSorted((a, b) => b.chargedCents - a.chargedCents);
  const rest = ofRentals.splice(spendingLimits.rentalsOfDay);
  return [
    ...ofRentals,
    ...(rest.length === 0 ? [] : [{ rental: null, rentals: rest.length, ...added(rest) }]),
    ...byRental.filter(({ rentals }) => rentals === 0),
  ];
}

function sumsOf(entries: readonly LedgerEntry[]): Sums {
  return added(
    entries.map(({ type, rentalId, amountCents }) => ({
      entries: 1,
      chargedCents: type === 'rental_charge' ? -amountCents : 0,
      refundedCents: type !== 'rental_charge' && rentalId !== null ? amountCents : 0,
      amountCents,
    })),
  );
}

function added(sums: readonly Sums[]): Sums {
  const all = (of: (sum: Sums) => number): number => sums.reduce((total, sum) => total + of(sum), 0);
  return {
    entries: all(({ entries }) => entries),
    chargedCents: all(({ chargedCents }) => chargedCents),
    refundedCents: all(({ refundedCents }) => refundedCents),
    amountCents: all(({ amountCents }) => amountCents),
  };
}
