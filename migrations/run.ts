import { DatabaseUnfit } from '../adapters/postgres/fitness.js';
import { errorCodeOf, sqlStateOf } from '../adapters/postgres/sql-state.js';
import { readConfig } from '../config.js';
import { ensureLogins } from './logins.js';
import { migrateToLatest } from './migrate.js';
import { grantSight } from './sight.js';
import { MigrationRefused } from './takeover.js';

const { url, loginPasswords } = readConfig().database;
const say = (line: string): void => console.log(line);
try {
  const taken = await migrateToLatest(url, { say });
  say(taken.length === 0 ? 'The schema is up to date.' : `Migrated: ${taken.join(', ')}`);
  const logins = await ensureLogins(url, loginPasswords);
  if (logins.length > 0) say(`These may log in: ${logins.join(', ')}`);
  const unseen = await grantSight(url);
  if (unseen !== undefined) say(unseen);
} catch (error) {
  console.error(wordsOf(error));
  process.exitCode = 1;
}

/** What a person does something about is one text. Anything else is a fault of the program, and shows its place. */
function wordsOf(error: unknown): unknown {
  if (error instanceof DatabaseUnfit || error instanceof MigrationRefused) return error.message;
  const code = errorCodeOf(error);
  if (code !== undefined)
    return `The database of DATABASE_URL can't be migrated: ${messageOf(error)} (${code})`;
  return error;
}

/** An address with several meanings fails once for each of them. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ');
  const message = error instanceof Error ? error.message : String(error);
  // knex puts the statement before the server's words.
  return sqlStateOf(error) === undefined ? message : (message.split(' - ').at(-1) ?? message);
}
