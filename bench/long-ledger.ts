import type { Database } from '../adapters/postgres/database.js';
import type { UserId } from '../domain/ids.js';

/**
 * Makes a user whose wallet has this many entries, as metering would have written them: two rentals in turn, and some
 * top-ups.
 */
export async function seedLedger(db: Database, userId: UserId, entries: number): Promise<void> {
  await db('users').insert({ id: userId, email: `${userId.toLowerCase()}@example.com` });
  const [wallet] = await db('wallets').insert({ user_id: userId }).returning('id');
  const walletId = wallet?.id ?? 0;
  await db.raw('alter table ledger_entries disable trigger user');
  await db.raw('alter table wallets disable trigger user');
  await db.raw('set statement_timeout = 0');
  await db.raw(
    `insert into ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at)
     select :walletId, n, case when n % 1000 = 1 then 'processor_topup' else 'rental_charge' end::ledger_entry_type,
            case when n % 1000 = 1 then 1000000 else -1 end, 1000000000, 1 + n % 2,
            clock_ms() - (:entries::bigint - n) * interval '1 second'
       from generate_series(1, :entries::bigint) n`,
    { walletId, entries },
  );
  await db('wallets').where({ id: walletId }).update({ seq: entries, available_cents: 1_000_000_000 });
  await db.raw('alter table ledger_entries enable trigger user');
  await db.raw('alter table wallets enable trigger user');
}
