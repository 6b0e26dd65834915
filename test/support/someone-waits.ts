import type { Database } from '../../adapters/postgres/database.js';
import { until } from './until.js';

/** Waits until some connection to this database waits for a lock that another one holds. @param what for the message */
export async function untilSomeoneWaits(db: Database, what: string): Promise<void> {
  await until(what, async () => {
    const { rows } = await db.raw<{ rows: unknown[] }>(
      `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    );
    return rows.length > 0;
  });
}
