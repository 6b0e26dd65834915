import type { Transaction } from '../database.js';

/** The hourly cost of the running rentals of a wallet, and the number of all running rentals. */
export interface Burn {
  /** Of all running rentals of the wallet, in cents. */
  readonly burnPerHourCents: number;
  /**
   * The time until the one rental reaches its own limit, in milliseconds; null without a limit, or when it does not
   * run.
   */
  readonly untilLimitMs: number | null;
  /** The running rentals of all users; of a large fleet, as autovacuum last counted them. */
  readonly fleet: number;
}

/** Counting a million rows for each of the three rounds of a second would take a quarter of a core. */
const fleet = `select case when reltuples > 100000 then reltuples::bigint else (select count(*) from meters) end
                 from pg_class where oid = 'meter_readings'::regclass`;

/** In SQL, the hourly cost of a wallet's running rentals, in cents. @param wallet the name of its row in the query */
export function burnSql(wallet: string): string {
  return `(select coalesce(sum(price_per_hour_cents), 0)::bigint from meters where wallet_id = ${wallet}.id)`;
}

/**
 * In SQL, the money that pays for a wallet's running rentals, in cents: what is available and what is left of their
 * holds. @param wallet the name of its row in the query
 */
export function fundsSql(wallet: string): string {
  return `(select ${wallet}.available_cents + coalesce(sum(hold_cents), 0)::bigint
             from meters where wallet_id = ${wallet}.id)`;
}

/**
 * Reads what a wallet has available, in cents, less what its machines have used by now and no tick has charged yet: one may
 * be late, or metering is paused (decision 123, "What machines have used"). The wallet must be locked by this transaction.
 */
export async function readUnusedCents(trx: Transaction, walletId: number): Promise<number> {
  const { rows } = await trx.raw<{ rows: { cents: number }[] }>(
    `select greatest(0, w.available_cents
                        - coalesce(sum(greatest(0, used.cents - m.charged_cents - m.hold_cents)), 0))::bigint as cents
       from wallets w
       left join meters m on m.wallet_id = w.id
       left join stop_requests s on s.rental_no = m.rental_no and s.open
       cross join lateral (
         select m.price_per_hour_cents::bigint
                * greatest(0, least(epoch_ms(clock_ms()), m.limit_ms, s.requested_ms) - m.running_ms) / 3600000 as cents
       ) used
      where w.id = ?
      group by w.id`,
    [walletId],
  );
  if (!rows[0]) throw new Error(`no wallet ${walletId}`);
  return rows[0].cents;
}

/** Reads the burn of a wallet, and when one of its rentals reaches its limit. */
export async function readBurn(trx: Transaction, walletId: number, rentalNo: number): Promise<Burn> {
  const { rows } = await trx.raw<{ rows: Burn[] }>(
    `select coalesce(sum(price_per_hour_cents), 0) as "burnPerHourCents",
            min(limit_ms) filter (where rental_no = :rentalNo) - epoch_ms(clock_ms()) as "untilLimitMs",
            (${fleet}) as fleet
       from meters where wallet_id = :walletId`,
    { rentalNo, walletId },
  );
  return rows[0] ?? { burnPerHourCents: 0, untilLimitMs: null, fleet: 0 };
}

/** Counts the running rentals of all users; a large fleet as autovacuum last counted it. */
export async function countMeters(trx: Transaction): Promise<number> {
  const { rows } = await trx.raw<{ rows: { fleet: number }[] }>(`select (${fleet}) as fleet`);
  return rows[0]?.fleet ?? 0;
}
