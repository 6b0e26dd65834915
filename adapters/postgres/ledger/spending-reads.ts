import type { RentalId, UserId } from '../../../domain/ids.js';
import { spendingLimits } from '../../../domain/spending/limits.js';
import type { Database } from '../database.js';
import { balanceBefore, findStretch } from './statement-reads.js';

/** A rental by what people know it by. */
interface NamedRental {
  readonly rentalId: RentalId;
  readonly name: string | null;
  readonly family: string;
  readonly gpuCount: number;
}

/** What a day's entries sum up to, of one rental, of several together, or of none; amounts in cents. */
export interface SpendingSum {
  /** The beginning of the day, in UTC. */
  readonly day: Date;
  /** Null for several, and for entries that are no rental's. */
  readonly rental: NamedRental | null;
  /** How many rentals it is of. */
  readonly rentals: number;
  readonly entries: number;
  readonly chargedCents: number;
  readonly refundedCents: number;
  /** Signed: what the wallet was moved by. */
  readonly amountCents: number;
}

export interface Spending {
  readonly openingBalanceCents: number;
  readonly closingBalanceCents: number;
  /** By day; in a day the costliest rentals first, then the rest of them, then what is no rental's. */
  readonly sums: readonly SpendingSum[];
}

/**
 * Sums a wallet's entries between two instants by day (UTC) and rental, and reads the balances at both, all from one
 * moment. It walks only that stretch of the ledger, along the primary key; of what is sealed it opens the seals at the
 * stretch's ends, and those in which a rental's charges lie in two days (decision 142, "Spending by day").
 */
export async function readSpending(
  db: Database,
  userId: UserId,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<Spending> {
  return db.transaction(
    async (trx) => {
      const stretch = await findStretch(trx, userId, from, to);
      const { rows } = await trx.raw<{ rows: Row[] }>(sumsSql, {
        ...stretch,
        toSeq: stretch.toSeq - 1,
        most: spendingLimits.rentalsOfDay,
      });
      return {
        openingBalanceCents: await balanceBefore(trx, stretch.walletId, stretch.fromSeq),
        closingBalanceCents: await balanceBefore(trx, stretch.walletId, stretch.toSeq),
        sums: rows.map(sumOf),
      };
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

type Row = Omit<SpendingSum, 'rental'> & { readonly [Name in keyof NamedRental]: NamedRental[Name] | null };

function sumOf({ rentalId, name, family, gpuCount, ...sums }: Row): SpendingSum {
  const isOne = rentalId !== null && family !== null && gpuCount !== null;
  return { ...sums, rental: isOne ? { rentalId, name, family, gpuCount } : null };
}

/** As date_trunc in UTC, at a third of its time. */
const dayOf = (at: string): string => `date_bin('1 day', ${at}, timestamptz '1970-01-01 00:00:00+00')`;

const sumsSql = `
  with seals as (
    select s.last_seq, x.no, x.entries, x.cents, ${dayOf('from_epoch_ms(x.earliest)')} as day,
           s.first_seq >= :fromSeq and s.last_seq <= :toSeq
             and ${dayOf('from_epoch_ms(x.earliest)')} = ${dayOf('from_epoch_ms(x.latest)')} as is_whole
      from ledger_seals s
     cross join lateral unnest(s.rental_nos, s.rental_entries, s.rental_cents, s.rental_earliest_ms, s.rental_latest_ms)
       as x (no, entries, cents, earliest, latest)
     where s.wallet_id = :walletId and s.last_seq >= :fromSeq and s.last_seq < :toSeq::bigint + 1000
       and s.first_seq <= :toSeq
  ), opened as materialized (
    -- One look-up and one opening a seal: a join might open all seals, and then keep these.
    select cut.last_seq, x.*
      from (select distinct last_seq from seals where not is_whole) cut
     cross join lateral (
       select s from ledger_seals s where s.wallet_id = :walletId and s.last_seq = cut.last_seq offset 0
     ) one
     cross join lateral entries_of_seal(one.s, :fromSeq, :toSeq) x
     where x.rental_no is not null
  ), sums as (
    select ${dayOf('e.created_at')} as day, e.rental_no, e.type = 'rental_charge' as is_charge, count(*) as entries,
           sum(e.amount_cents) as cents
      from (select sealed_through(:walletId) as through offset 0) sealed
     cross join lateral (
       select created_at, rental_no, type, amount_cents from ledger_rows
        where wallet_id = :walletId and seq between greatest(:fromSeq, sealed.through + 1) and :toSeq
       union all
       select created_at, rental_no, type, amount_cents from kept_entries
        where wallet_id = :walletId and seq between :fromSeq and least(:toSeq, sealed.through)
     ) e
     group by 1, 2, 3
    union all
    select day, no, true, entries, cents from seals where is_whole
    union all
    select ${dayOf('x.created_at')}, x.rental_no, true, count(*), sum(x.amount_cents)
      from opened x
      join seals on seals.last_seq = x.last_seq and seals.no = x.rental_no and not seals.is_whole
     group by 1, 2
  ), by_rental as (
    select day, rental_no, sum(entries) as entries, coalesce(-sum(cents) filter (where is_charge), 0) as charged,
           coalesce(sum(cents) filter (where not is_charge), 0) as moved
      from sums group by 1, 2
  ), placed as (
    select *, row_number() over (partition by day order by rental_no is null, charged desc, rental_no) <= :most as is_shown
      from by_rental
  ), shown as (
    select day, case when is_shown then rental_no end as rental_no, count(rental_no) as rentals, sum(entries) as entries,
           sum(charged) as charged, sum(moved) as moved
      from placed group by 1, 2, rental_no is null
  )
  select s.day, r.id as "rentalId", r.name, r.family, r.gpu_count as "gpuCount", s.rentals, s.entries::bigint as entries,
         s.charged::bigint as "chargedCents", case when s.rentals > 0 then s.moved else 0 end::bigint as "refundedCents",
         (s.moved - s.charged)::bigint as "amountCents"
    from shown s
    left join rentals r on r.no = s.rental_no
   order by s.day, s.rental_no is null, s.charged desc, s.rental_no, s.rentals = 0`;
