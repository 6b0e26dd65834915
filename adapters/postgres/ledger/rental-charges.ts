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
    `with r as (
       select r.no, r.wallet_id, r.opened_seq + 1 as from_seq, coalesce(r.settled_seq, w.seq) as to_seq,
              sealed_through(r.wallet_id) as through
         from rentals r join wallets w on w.id = r.wallet_id
        where r.id = :rentalId and r.user_id = :userId
     ), seals as (
       select r.no, s.wallet_id, s.last_seq, x.*, date_trunc(:interval, x.earliest, 'UTC') as bucket,
              date_trunc(:interval, x.earliest, 'UTC') = date_trunc(:interval, x.latest, 'UTC') as is_whole
         from r
         join ledger_seals s on s.wallet_id = r.wallet_id and s.last_seq between r.from_seq and r.to_seq + 999
        cross join lateral (
          select entries, cents, from_epoch_ms(earliest) as earliest, from_epoch_ms(latest) as latest
            from unnest(s.rental_nos, s.rental_entries, s.rental_cents, s.rental_earliest_ms, s.rental_latest_ms)
              as sums (no, entries, cents, earliest, latest)
           where sums.no = r.no
        ) x
     ), sums as (
       select date_trunc(:interval, e.created_at, 'UTC') as bucket, e.type, count(*) as entries,
              sum(e.amount_cents) as cents
         from r
        cross join lateral (
          select * from ledger_rows e
           where e.wallet_id = r.wallet_id and e.seq between greatest(r.from_seq, r.through + 1) and r.to_seq
          union all
          select * from kept_entries e
           where e.wallet_id = r.wallet_id and e.seq between r.from_seq and least(r.through, r.to_seq)
        ) e
        where e.rental_no = r.no
        group by 1, 2
       union all
       select bucket, 'rental_charge', entries, cents from seals where is_whole
       union all
       select date_trunc(:interval, x.created_at, 'UTC'), 'rental_charge', count(*), sum(x.amount_cents)
         -- One look-up and one opening a seal: a join might open all seals, and then keep these.
         from seals
        cross join lateral (
          select s from ledger_seals s where s.wallet_id = seals.wallet_id and s.last_seq = seals.last_seq offset 0
        ) one
        cross join lateral entries_of_seal(one.s) x
        where not is_whole and x.rental_no = seals.no
        group by 1
     )
     select bucket as "from", coalesce(-sum(cents) filter (where type = 'rental_charge'), 0)::bigint as "chargedCents",
            coalesce(sum(cents) filter (where type = 'refund'), 0)::bigint as "refundedCents",
            sum(entries)::bigint as entries
       from sums group by 1 order by 1`,
    { interval, rentalId, userId },
  );
  return rows;
}
