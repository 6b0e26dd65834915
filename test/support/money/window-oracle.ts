import type { Database } from '../../../adapters/postgres/database.js';
import type { RentalId } from '../../../domain/ids.js';
import { getRental } from './money.js';

/**
 * The times at which the cents of a rental were earned, in milliseconds since 1970. The final rounding may add the last
 * one.
 */
export interface EarnedCents {
  readonly priceCents: number;
  readonly runningMs: number;
  /** Infinity while the rental runs. */
  readonly endedMs: number;
  /** The cents charged, minus the cents that its settlement gave back. */
  readonly cents: number;
}

/**
 * The cents charged for the time after one instant and up to another, counted one by one. The n-th cent is earned in
 * the first millisecond at which rate x time reaches n, and at the end at the latest.
 */
export function centsBetween(
  { priceCents, runningMs, endedMs, cents }: EarnedCents,
  fromMs: number,
  toMs: number,
): number {
  let found = 0;
  for (let cent = 1; cent <= cents; cent += 1) {
    const earned = BigInt(runningMs) + ceilDiv(BigInt(cent) * 3_600_000n, BigInt(priceCents));
    const at = Math.min(Number(earned), endedMs);
    if (at > fromMs && at <= toMs) found += 1;
  }
  return found;
}

/** Reads from the ledger when a rental's cents were earned. */
export async function readEarned(db: Database, id: RentalId): Promise<EarnedCents> {
  const rental = await getRental(db, id);
  if (!rental.running_at) throw new Error(`${id} never ran`);
  const { rows } = await db.raw<{ rows: { cents: number }[] }>(
    'select coalesce(-sum(amount_cents), 0)::bigint as cents from ledger_entries where rental_no = ?',
    [rental.no],
  );
  return {
    priceCents: rental.price_per_hour_cents,
    runningMs: rental.running_at.getTime(),
    endedMs: rental.ended_at?.getTime() ?? Infinity,
    cents: rows[0]!.cents,
  };
}

function ceilDiv(one: bigint, other: bigint): bigint {
  return (one + other - 1n) / other;
}
