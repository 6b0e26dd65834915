import knexFactory, { type Knex } from 'knex';
import pg from 'pg';
import './tables.js';

/** The service's database: a knex instance whose tables are typed (tables.ts). */
export type Database = Knex;

/** A transaction on it. Money is only ever written through one. */
export type Transaction = Knex.Transaction;

/**
 * Opens a pool of connections. int8 comes back as a number and throws when it would not be exact, instants come
 * back as Date.
 * @param poolMax connections at most
 * @param applicationName shown to operators in pg_stat_activity
 * @param role the role that each connection works as, with its rights alone; the user of the URL unless told
 */
export function openDatabase(
  url: string,
  poolMax: number,
  applicationName: string,
  role?: string | null,
): Database {
  return knexFactory({
    client: 'pg',
    // Its errors are logged, and kept by Temporal: their statements must not carry what was bound to them.
    compileSqlOnError: false,
    connection: {
      connectionString: url,
      application_name: applicationName,
      ...(role === undefined || role === null ? {} : { options: `-c role=${role}` }),
      // A statement that hangs holds locks that others wait for: it is ended by the server.
      statement_timeout: 30_000,
      idle_in_transaction_session_timeout: 60_000,
      connectionTimeoutMillis: 5_000,
      types,
    },
    pool: { min: 0, max: poolMax },
    acquireConnectionTimeout: 5_000,
  });
}

const overrides = new pg.TypeOverrides();
overrides.setTypeParser(pg.types.builtins.INT8, exactInteger);
const types = {
  getTypeParser: (oid: number, format?: string) =>
    overrides.getTypeParser(oid, format === 'binary' ? 'binary' : 'text'),
};

function exactInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} does not fit into a number`);
  return value;
}
