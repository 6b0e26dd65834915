import type { CheckedSettings } from '../../../domain/operations/database-check.js';
import type { Database } from '../database.js';

/** The settings of the server as it runs, and how many rentals it meters. */
export async function readServerSettings(
  db: Database,
): Promise<{ settings: CheckedSettings; runningRentals: number }> {
  const { rows } = await db.raw<{ rows: (CheckedSettings & { runningRentals: number })[] }>(
    `select current_setting('fsync') as fsync,
            current_setting('full_page_writes') as full_page_writes,
            current_setting('synchronous_commit') as synchronous_commit,
            current_setting('autovacuum') as autovacuum,
            current_setting('track_counts') as track_counts,
            pg_size_bytes(current_setting('shared_buffers')) as "sharedBuffersBytes",
            pg_size_bytes(current_setting('max_wal_size')) as "maxWalBytes",
            extract(epoch from current_setting('checkpoint_timeout')::interval)::int as "checkpointTimeoutS",
            (select case when own.setting = '-1' then shared.setting else own.setting end
               from pg_settings own, pg_settings shared
              where own.name = 'autovacuum_vacuum_cost_limit' and shared.name = 'vacuum_cost_limit')::int
              as "autovacuumCostLimit",
            (select count(*) from meters) as "runningRentals"`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The database server did not tell its settings.');
  const { runningRentals, ...settings } = row;
  return { settings, runningRentals };
}
