import type { ApiKeyId, RentalId, UserId } from '../../../domain/ids.js';
import type { RentalStatus } from '../../../domain/rentals/rental.js';
import type { Database } from '../database.js';

/** What a wallet holds now; cents. */
export interface LiveBalance {
  readonly userId: UserId;
  readonly availableCents: number;
  readonly reservedCents: number;
  /** What the running rentals cost an hour. */
  readonly burnPerHourCents: number;
  /** The number of the ledger's newest entry; 0 before the first. */
  readonly ledgerSeq: number;
}

/** What a running rental, or one that ran a moment ago, has cost so far; cents. */
export interface LiveMeter {
  readonly userId: UserId;
  readonly rentalId: RentalId;
  /** The API key that opened it; null: a session did. */
  readonly apiKeyId: ApiKeyId | null;
  readonly status: RentalStatus;
  readonly pricePerHourCents: number;
  /** Less what was refunded. */
  readonly chargedCents: number;
  readonly holdCents: number;
  readonly runningAt: Date | null;
  readonly endedAt: Date | null;
}

/** The states of some users, all from one moment. */
export interface LiveStates {
  readonly readAt: Date;
  readonly balances: readonly LiveBalance[];
  readonly meters: readonly LiveMeter[];
}

interface Row {
  readAt: Date;
  balances: LiveBalance[];
  meters: (Omit<LiveMeter, 'runningAt' | 'endedAt'> & { runningAt: string | null; endedAt: string | null })[];
}

/**
 * Reads the balances of these users and the meters of their running rentals, by one statement for all of them.
 * @param others rentals that were running at the last look: they are read as well, so that their end is seen
 */
export async function readLiveStates(
  db: Database,
  userIds: readonly UserId[],
  others: readonly RentalId[],
): Promise<LiveStates> {
  const { rows } = await db.raw<{ rows: Row[] }>(
    `with live as (
       select w.id, w.user_id, w.available_cents, w.reserved_cents, w.seq
         from unnest(:userIds::text[]) u join wallets w on w.user_id = u
     ), running as (
       select m.rental_no, m.wallet_id, m.price_per_hour_cents from live join meters m on m.wallet_id = live.id
     ), burns as (
       select wallet_id, sum(price_per_hour_cents)::bigint as cents from running group by wallet_id
     ), balances as (
       select live.user_id as "userId", available_cents as "availableCents", reserved_cents as "reservedCents",
              seq as "ledgerSeq", coalesce(burns.cents, 0) as "burnPerHourCents"
         from live left join burns on burns.wallet_id = live.id
     ), meters as (
       select r.user_id as "userId", r.id as "rentalId", r.api_key_id as "apiKeyId", r.status, r.price_per_hour_cents as "pricePerHourCents",
              r.charged_cents - r.refunded_cents as "chargedCents", r.hold_cents as "holdCents",
              r.running_at as "runningAt", r.ended_at as "endedAt"
         from rentals_now r
        where r.no in (select rental_no from running
                       union select o.no from unnest(:others::text[]) id join rentals o using (id))
     )
     select clock_ms() as "readAt",
            coalesce((select json_agg(balances) from balances), '[]') as balances,
            coalesce((select json_agg(meters) from meters), '[]') as meters`,
    { userIds: [...userIds], others: [...others] },
  );
  const [row] = rows;
  if (!row) throw new Error('the states were not read');
  const timeOf = (text: string | null): Date | null => (text === null ? null : new Date(text));
  return {
    readAt: row.readAt,
    balances: row.balances,
    meters: row.meters.map((meter) => ({
      ...meter,
      runningAt: timeOf(meter.runningAt),
      endedAt: timeOf(meter.endedAt),
    })),
  };
}
