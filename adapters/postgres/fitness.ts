import type { Logger } from 'pino';
import type { Knex } from 'knex';
import { errorCodeOf } from './sql-state.js';

/** The settings that each connection asks the server for, by name; times in milliseconds. */
export type AskedSettings = Readonly<Record<string, string | number>>;

/** The server, or what stands before it, can't be worked with. Its message says why and what to do. */
export class DatabaseUnfit extends Error {
  override readonly name = 'DatabaseUnfit';
  readonly code = 'DATABASE_UNFIT';
}

/** `transaction_timeout` is of this version; each wait for a lock rests on it (decision 72, "Deadlines of waits"). */
const oldestVersion = 17;
const page = 'see docs/operations/deploying.md#postgresql';

/** SQLSTATE undefined_object: the server does not know a setting that a connection asks for. */
const unknownSetting = '42704';
/** SQLSTATE protocol_violation: PgBouncer's answer to a setting that it does not pass on. */
const refusedByPooler = '08P01';

/**
 * Refuses a server that is too old.
 * @param versionNum `server_version_num`, such as 180004
 * @throws DatabaseUnfit
 */
export function refuseOldServer(versionNum: number): void {
  const major = Math.floor(versionNum / 10_000);
  if (major >= oldestVersion) return;
  throw new DatabaseUnfit(
    `PostgreSQL ${oldestVersion} or newer is needed, and this server is ${major}. Upgrade it first; ${page}.`,
  );
}

/** The statement that shows what a connection has got; its answer is the argument of `refuseOtherSettings`. */
export function showSettings(asked: AskedSettings): string {
  const settings = Object.entries(asked).map(([name, value]) =>
    typeof value === 'number'
      ? `extract(epoch from current_setting('${name}')::interval) * 1000 as ${name}`
      : `current_setting('${name}') as ${name}`,
  );
  return `select ${settings.join(', ')}, pg_is_in_recovery() as standby`;
}

/**
 * Compares what a connection has got with what was asked for. A pooler in transaction mode takes settings and drops
 * them, or hands one client's to the next: then statements run without their limits, and with the rights of another.
 * @throws DatabaseUnfit naming the first setting that differs
 */
export function refuseOtherSettings(asked: AskedSettings, got: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(asked)) {
    const is = typeof value === 'number' ? Number(got[name]) : got[name];
    if (is === value) continue;
    throw new DatabaseUnfit(
      `The database connection asked for ${name} = ${value} and got ${String(is)}. A connection pooler that drops settings (PgBouncer in transaction mode, or with ignore_startup_parameters) can't stand before PostgreSQL here. Connect to the server itself; ${page}.`,
    );
  }
}

/** Puts the refusal of a connection's settings into words. Any other error is returned as it is. */
export function wordsOfRefusal(error: unknown): unknown {
  const message = error instanceof Error ? error.message : String(error);
  if (errorCodeOf(error) === unknownSetting && message.includes('transaction_timeout')) {
    return new DatabaseUnfit(
      `PostgreSQL ${oldestVersion} or newer is needed: this server knows no transaction_timeout. Upgrade it first; ${page}.`,
      { cause: error },
    );
  }
  if (errorCodeOf(error) === refusedByPooler && message.includes('startup parameter')) {
    return new DatabaseUnfit(
      `A connection pooler refused the settings of the database connection (${message}). Connect to the server itself; ${page}.`,
      { cause: error },
    );
  }
  return error;
}

/**
 * Ends a process at its start, in words, when its database can't be worked with. A database that is away may come, and
 * is waited for as at any other time.
 */
export async function stopWhenUnfit(db: Knex, log: Logger): Promise<void> {
  try {
    await db.raw('select 1');
  } catch (error) {
    if (!(error instanceof DatabaseUnfit)) return;
    log.fatal(error.message);
    process.exit(1);
  }
}
