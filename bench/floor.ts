import type { Database } from '../adapters/postgres/database.js';

/** Makes tables of the same shape as the product's, with indexes and CHECKs, without its triggers and its logic. */
export async function makeFloor(db: Database): Promise<void> {
  for (const table of ['wallets', 'meter_readings', 'ledger_entries']) {
    await db.raw(`drop table if exists floor_${table}`);
    await db.raw(`create table floor_${table} (like ${table} including all)`);
    if (table !== 'ledger_entries') await db.raw(`alter table floor_${table} set (fillfactor = 45)`);
  }
  await db.raw('insert into floor_wallets overriding system value select * from wallets');
  await db.raw('insert into floor_meter_readings select * from meter_readings');
  await db.raw('vacuum analyze');
}

/**
 * Writes the least that any metering must write for one entry: the entry, the meter's running total and the wallet's
 * balance. One insert and two updates, by set; nothing is computed, and only the CHECKs are checked.
 * @returns entries written
 */
export async function floorTick(db: Database, round: number): Promise<number> {
  return db.transaction(async (trx) => {
    const { rowCount } = await trx.raw<{ rowCount: number }>(
      `insert into floor_ledger_entries (wallet_id, seq, type, amount_cents, balance_after_cents, rental_no, created_at)
       select wallet_id, 2 * :round::bigint + rental_no % 2 + 1, 'rental_charge', -1, 100000000, rental_no,
              clock_timestamp()
         from floor_meter_readings`,
      { round },
    );
    await trx.raw(`update floor_meter_readings set charged_cents = charged_cents + 1`);
    await trx.raw('update floor_wallets set available_cents = available_cents - 2, seq = seq + 2');
    return rowCount;
  });
}
