import pg from 'pg';
import type { Database } from '../../adapters/postgres/database.js';

/** Lets a pool keep its idle connections, which it would close at real times of its own. */
export function keepIdle(db: Database): Database {
  const { pool } = db.client as { pool: { _startReaping: () => void } };
  pool._startReaping = () => undefined;
  return db;
}

/** Makes a fresh copy of the migrated database whose clock is the simulation's. @returns a connection of its own to it */
export async function prepareDatabase(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create sequence if not exists simulated_ms minvalue 0 start 1; grant select, usage on sequence simulated_ms to public;
    create or replace function clock_ms() returns timestamptz(3) language sql volatile
      as $$ select timestamptz '1970-01-01 00:00:00+00' + pg_sequence_last_value('simulated_ms'::regclass) * interval '1 millisecond' $$`);
  return client;
}
