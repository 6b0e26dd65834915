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
