import pg from 'pg';
import type { HostSettings } from '../adapters/postgres/address.js';
import { lockNotAvailable } from '../adapters/postgres/sql-state.js';
import type { Step } from './steps.js';

/** Any number: it holds up only others who build the indexes of a step. */
const buildingIndexes = 4_907_136;

/** One statement of a step that builds indexes: it has no others. */
export const concurrentIndex = /^create (?:unique )?index concurrently (\w+)[^;]*;/gm;

/** Tells whether a step builds indexes beside those who write, which no transaction can. */
export function isConcurrent({ sql }: Step): boolean {
  return sql.includes(' concurrently ');
}

/** The statements of a step as a transaction can run them. */
export function withinTransaction(sql: string): string {
  return sql.replaceAll(' concurrently ', ' ');
}

/**
 * Builds the indexes of a step, one after the other, while others read and write. One that is there stays, and one that
 * was left unfinished is built anew: the step may be taken again after any of it.
 * @param host for a connection of its own, whose end frees what it holds
 * @param lockMs what an index waits for the end of transactions that began before it
 * @throws an error with the code `lockNotAvailable` while another process builds
 */
export async function buildIndexes(host: HostSettings, { sql }: Step, lockMs: number): Promise<void> {
  const client = new pg.Client({ ...host, application_name: 'gpu-rental-migrate' });
  await client.connect();
  try {
    // Whoever waits for a lock is a transaction, for whose end the other's index waits: so nobody waits here.
    const { rows } = await client.query<{ has: boolean }>('select pg_try_advisory_lock($1) as has', [
      buildingIndexes,
    ]);
    if (rows[0]?.has !== true)
      throw Object.assign(new Error('another process builds indexes'), { code: lockNotAvailable });
    await client.query(`set lock_timeout = ${lockMs}`);
    for (const [create, name = ''] of sql.matchAll(concurrentIndex)) await buildIndex(client, create, name);
  } finally {
    await client.end();
  }
}

async function buildIndex(client: pg.Client, create: string, name: string): Promise<void> {
  const { rows } = await client.query<{ valid: boolean }>(
    'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
    [name],
  );
  if (rows[0]?.valid === true) return;
  if (rows[0]) await client.query(`drop index concurrently ${name}`);
  await client.query(create);
}
