import type { RentalId, UserId } from '../../../domain/ids.js';
import type { Database } from '../database.js';

export type ChargeInterval = 'hour' | 'day';

/** The charges of a rental in one hour or day (UTC); refunds are negative charges. Amounts in cents. */
export interface ChargeBucket {
  readonly from: Date;
  readonly chargedCents: number;
  readonly refundedCents: number;
  readonly entries: number;
}

/**
 * Sums a rental's entries by hour or day, oldest first. It walks only the stretch of the wallet's ledger that the
 * rental's life spans, along the primary key.
 */
export async function sumCharges(
  db: Database,
  userId: UserId,
  rentalId: RentalId,
  interval: ChargeInterval,
): Promise<ChargeBucket[]> {
  const { rows } = await db.raw<{ rows: ChargeBucket[] }>(
    `select date_trunc(:interval, e.created_at, 'UTC') as "from",
            coalesce(-sum(e.amount_cents) filter (where e.type = 'rental_charge'), 0)::bigint as "chargedCents",
            coalesce(sum(e.amount_cents) filter (where e.type = 'refund'), 0)::bigint as "refundedCents",
            count(*) as entries
       from rentals r join wallets w on w.id = r.wallet_id
       join ledger_entries e on e.wallet_id = r.wallet_id and e.rental_no = r.no
            and e.seq > r.opened_seq and e.seq <= coalesce(r.settled_seq, w.seq)
      where r.id = :rentalId and r.user_id = :userId
      group by 1 order by 1`,
    { interval, rentalId, userId },
  );
  return rows;
}
