import type { Database } from '../adapters/postgres/database.js';

export type PriceMix = 'realistic' | 'every-second';

/**
 * Fills the database with running rentals, two per wallet, in states that the product itself would have made: every
 * trigger and CHECK is on.
 * - realistic: $0.20 to $4.00 an hour.
 * - every-second: $36 an hour, so that each rental owes a cent each second.
 * Each has run for less than a cent, so that their next cents come due evenly over time.
 */
export async function seedFleet(db: Database, rentals: number, mix: PriceMix): Promise<void> {
  const wallets = Math.ceil(rentals / 2);
  await db.raw(
    `insert into users (id, email)
     select 'usr_' || lpad(n::text, 26, '0'), 'bench' || n || '@example.com' from generate_series(1, :wallets::int) n`,
    { wallets },
  );
  await db.raw(`insert into wallets (user_id) select id from users`);
  await db.raw(
    `with w as (update wallets set available_cents = 100000000, seq = 1 returning id)
     insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, created_at)
     select id, 1, 'processor_topup', 100000000, 100000000, clock_ms() from w`,
  );
  const price = mix === 'realistic' ? '20 + (n * 7919::bigint) % 381' : '3600';
  await db.raw(
    `insert into rentals (id, wallet_id, user_id, status, family, model, gpu_count, region, region_code, interconnect,
       template_id, ssh_key_ids, listing_id, provider_code, tag, pod_id, price_per_hour_cents, hold_cents,
       started_at, running_at)
     select 'rent_' || lpad(n::text, 26, '0'), w.id, w.user_id, 'running', 'rtx-4090', 'RTX_4090', 1, 'Oslo', 'NO', 'pcie',
       'ubuntu-24-04', '{}', 'lst_' || lpad('1', 26, '0'), 'lab', 'bench-' || n, 'pod-' || n, price, 0,
       c.at - age_ms * interval '1 millisecond', c.at - age_ms * interval '1 millisecond'
     from (select n, price, (n * 104729::bigint) % (3600000 / price) as age_ms
             from (select n, ${price} as price from generate_series(1, :rentals::int) n) p) r
     cross join (select clock_ms() as at) c
     join wallets w on w.user_id = 'usr_' || lpad(((n + 1) / 2)::text, 26, '0')`,
    { rentals },
  );
  await db.raw('vacuum analyze');
}

/**
 * Gives each wallet of a realistic fleet a past that is not sealed yet, of none to all entries of a seal, as evenly as
 * they stand when sealing has gone on for long: its rentals have run for so long, and the rows lie in the order in which
 * ticks would have written them.
 */
export async function ageFleet(db: Database, entriesOfSeal: number): Promise<void> {
  const tables = ['rentals', 'meter_readings', 'wallets', 'ledger_entries'];
  await db.transaction(async (trx) => {
    for (const table of tables) await trx.raw('alter table ?? disable trigger user', [table]);
    await trx.raw(
      `create temporary table aged on commit drop as
       select rental_no, wallet_id, price_per_hour_cents as price,
              running_ms - (wallet_id * 7919::bigint) % :entriesOfSeal::int * 3600000
                / (sum(price_per_hour_cents) over (partition by wallet_id))::bigint as began_ms
         from meter_readings`,
      { entriesOfSeal },
    );
    await trx.raw(
      `update rentals set started_at = from_epoch_ms(began_ms), running_at = from_epoch_ms(began_ms)
         from aged where no = rental_no`,
    );
    await trx.raw(
      `update meter_readings m
          set running_ms = began_ms, charged_cents = price * (epoch_ms(clock_ms()) - began_ms) / 3600000
         from aged a where a.rental_no = m.rental_no`,
    );
    await trx.raw(
      `insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at)
       select wallet_id, 1 + n, 'rental_charge', -1, 100000000 - n, rental_no, from_epoch_ms(at_ms)
         from (select a.wallet_id, a.rental_no, at_ms,
                      row_number() over (partition by a.wallet_id order by at_ms, a.rental_no) as n
                 from aged a join meter_readings m on m.rental_no = a.rental_no
                cross join lateral (select began_ms + cent * 3600000 / price + 1000 as at_ms
                                      from generate_series(1, m.charged_cents) cent) entry) entries
        order by at_ms, wallet_id, n`,
    );
    await trx.raw(
      `update wallets w set seq = 1 + cents, available_cents = available_cents - cents
         from (select wallet_id, sum(charged_cents) as cents from meter_readings group by wallet_id) m
        where m.wallet_id = w.id`,
    );
    await trx.raw(
      `update ledger_entries e set created_at = least(e.created_at, from_epoch_ms(began_ms))
         from (select wallet_id, min(began_ms) as began_ms from aged group by wallet_id) a
        where e.wallet_id = a.wallet_id and e.seq = 1`,
    );
    for (const table of tables) await trx.raw('alter table ?? enable trigger user', [table]);
  });
  await db.raw('vacuum analyze');
}

/** Tables from which nobody may remove rows, except a benchmark in its own database. */
const kept = [
  ...['ledger_entries', 'ledger_seals', 'ledger_hashes', 'ledger_note_salts', 'wallet_proof_ids'],
  ...['ledger_causes', 'audit_events', 'operator_actions', 'operator_order_items', 'rental_changes'],
];

/** Removes the fleet and its metered entries, so that the next one starts from an empty database. */
export async function clearFleet(db: Database): Promise<void> {
  for (const table of kept) await db.raw('alter table ?? disable trigger user', [table]);
  await db.raw(`truncate meter_readings, users, wallets, ledger_entries, ledger_seals, ledger_hashes, ledger_note_salts,
    wallet_proof_ids, ledger_causes, rentals, intents, stop_requests, sessions,
    ssh_keys, topups, invoices, invoice_line_items, idempotency_keys restart identity cascade`);
  for (const table of kept) await db.raw('alter table ?? enable trigger user', [table]);
}
