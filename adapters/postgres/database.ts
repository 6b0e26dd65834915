import knexFactory, { type Knex } from 'knex';
import pg from 'pg';
import { acknowledgedAt } from './acknowledged.js';
import { hostsOf } from './address.js';
import { databaseDeadlines, type DatabaseDeadlines } from './deadlines.js';
import './rows/tables.js';
import { watchedClient } from './watched-client.js';

/** The service's database: a knex instance whose tables are typed (tables.ts). */
export type Database = Knex;

/** A transaction on the database. Money is only ever written through one. */
export type Transaction = Knex.Transaction;

/** The release whose processes these are; package.json says the same. */
export const release = '0.3';

/** The name of a process's connections in pg_stat_activity: `worker 0.3`. Earlier releases named none. */
export function processName(part: string): string {
  return `${part} ${release}`;
}

/**
 * Opens a pool of connections. int8 comes back as a number and throws when it would not be exact; instants come back as
 * Date. Every wait has its limit (decision 72, "Deadlines of waits"). A connection that went silent is ended and
 * replaced.
 * @param url of one host, or of several: each connection goes to the one that takes writes
 * @param poolMax connections at most
 * @param applicationName shown to operators in pg_stat_activity
 * @param role the role that each connection works as, with its rights alone; null: the user of the URL
 * @throws DatabaseUnfit where a new connection has not got the role and the limits that it asked for
 * @throws ConnectionLost from each query whose connection was lost before its answer came; see isOutcomeUnknown
 */
export function openDatabase(
  url: string,
  poolMax: number,
  applicationName: string,
  role?: string | null,
  deadlines: DatabaseDeadlines = databaseDeadlines.worker,
): Database {
  const atServer = serverSettings(role ?? null, deadlines);
  const asked = {
    application_name: applicationName,
    // The server ends a statement that hangs, because others wait for its locks.
    statement_timeout: deadlines.statementMs,
    idle_in_transaction_session_timeout: deadlines.idleInTransactionMs,
  };
  const hosts = hostsOf(url);
  return knexFactory({
    client: watchedClient(deadlines.answerMs, { ...asked, ...atServer }, hosts, acknowledgedAt(url)),
    // Errors are logged, and kept by Temporal: their statements must not carry bound values.
    compileSqlOnError: false,
    connection: {
      ...hosts[0],
      ...asked,
      options: optionsOf({ ...atServer, ...noticingLostClients }),
      connectionTimeoutMillis: deadlines.connectMs,
      // The kernel notices a lost peer also on an idle connection.
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      types,
    },
    pool: { min: 0, max: poolMax },
    acquireConnectionTimeout: deadlines.acquireMs,
    // Each failure is thrown to its caller, who writes it into the log once and in its place.
    log: { warn: ignore, error: ignore, debug: ignore, deprecate: ignore },
  });
}

const ignore = (): void => undefined;

const KEEP_ALIVE_MS = 10_000;

/** Settings for which the driver has no option. */
function serverSettings(role: string | null, { lockMs, transactionMs }: DatabaseDeadlines) {
  return { ...(role === null ? {} : { role }), lock_timeout: lockMs, transaction_timeout: transactionMs };
}

/** By them the server, too, notices a lost client, and ends its work. */
const noticingLostClients = {
  tcp_keepalives_idle: KEEP_ALIVE_MS / 1_000,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
};

function optionsOf(settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}

const overrides = new pg.TypeOverrides();
overrides.setTypeParser(pg.types.builtins.INT8, exactInteger);
type TextArrayParser = (text: string) => (string | null)[];
/** The type of arrays of int8, for which the driver has no name. */
const INT8_ARRAY = 1016;
const textsOf = overrides.getTypeParser(INT8_ARRAY, 'text') as unknown as TextArrayParser;
overrides.setTypeParser(INT8_ARRAY, (text: string) =>
  textsOf(text).map((each) => (each === null ? null : exactInteger(each))),
);
const types = {
  getTypeParser: (oid: number, format?: string) =>
    overrides.getTypeParser(oid, format === 'binary' ? 'binary' : 'text'),
};

function exactInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} does not fit into a number`);
  return value;
}
