import { DatabaseUnfit } from '../adapters/postgres/fitness.js';
import { readConfig } from '../config.js';
import { ensureLogins } from './logins.js';
import { migrateToLatest } from './migrate.js';

const { url, loginPasswords } = readConfig().database;
try {
  const taken = await migrateToLatest(url);
  console.log(taken.length === 0 ? 'The schema is up to date.' : `Migrated: ${taken.join(', ')}`);
  const logins = await ensureLogins(url, loginPasswords);
  if (logins.length > 0) console.log(`These may log in: ${logins.join(', ')}`);
} catch (error) {
  if (!(error instanceof DatabaseUnfit)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
