import type { Database } from '../adapters/postgres/database.js';

/** Tables of the same shape as the product's, indexes and CHECKs included, without its triggers and its logic. */
export async function makeFloor(db: Database): Promise<void> {
  for (const table of ['wallets', 'rentals', 'ledger_entries']) {
    await db.raw(`drop table if exists floor_${table}`);
    await db.raw(`create table floor_${table} (like ${table} including all)`);
    if (table === 'ledger_entries') continue;
    await db.raw(`alter table floor_${table} set (fillfactor = 45)`);
  }
  await db.raw('insert into floor_wallets overriding system value select * from wallets');
  const { rows } = await db.raw<{ rows: { names: string }[] }>(
    `select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns
      where table_name = 'rentals' and table_schema = 'public' and is_generated = 'NEVER'`,
  );
  const names = rows[0]?.names ?? '';
  await db.raw(`insert into floor_rentals (${names}) overriding system value select ${names} from rentals`);
  await db.raw('vacuum analyze');
}

/**
 * The least that any metering must write for one entry: the entry, the rental's running total and the wallet's
 * balance. One insert and two updates, by set, nothing computed and nothing checked but the CHECKs.
 * @returns entries written
 */
export async function floorTick(db: Database, round: number): Promise<number> {
  return db.transaction(async (trx) => {
    const { rowCount } = await trx.raw<{ rowCount: number }>(
      `insert into floor_ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at)
       select wallet_id, 2 * :round::bigint + no % 2 + 1, 'rental_charge', -1, 100000000, no, clock_timestamp()
         from floor_rentals where status = 'running'`,
      { round },
    );
    await trx.raw(`update floor_rentals set charged_cents = charged_cents + 1 where status = 'running'`);
    await trx.raw('update floor_wallets set available_cents = available_cents - 2, seq = seq + 2');
    return rowCount;
  });
}
