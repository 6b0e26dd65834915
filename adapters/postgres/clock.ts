import type { Database, Transaction } from './database.js';

/**
 * Reads the database's clock. It times everything that more than one process looks at (decision 7, "Times and
 * cursors").
 */
export async function readClock(db: Database | Transaction): Promise<Date> {
  const { rows } = await db.raw<{ rows: { now: Date }[] }>('select clock_ms() as now');
  const row = rows[0];
  if (!row) throw new Error('the database did not tell its time');
  return row.now;
}

/** Returns how long ago an instant of a row was by the database's clock, in milliseconds; below 0: it lies ahead. */
export async function msSince(db: Database | Transaction, at: Date): Promise<number> {
  return (await readClock(db)).getTime() - at.getTime();
}
