import type { Database } from '../../../adapters/postgres/database.js';

/** Whether a statement stands still in the database, by the trigger of a test. */
export async function isAsleep(db: Database): Promise<boolean> {
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
  );
  return rows.length > 0;
}

/** Ends the statements of a killed worker, as the database does once it notices. */
export async function endSleepers(db: Database): Promise<void> {
  await db.raw(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event = 'PgSleep'`);
}
