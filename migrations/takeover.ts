import type { Knex } from 'knex';
import { errorCodeOf } from '../adapters/postgres/sql-state.js';
import { readFingerprint, tellDifferences, type Fingerprint } from './fingerprint.js';
import { withinTransaction } from './concurrently.js';
import type { Step } from './steps.js';

/** A database that these migrations do not go on with. Its message says why and what to do; nothing was changed. */
export class MigrationRefused extends Error {
  override readonly name = 'MigrationRefused';
}

/** The steps of release 0.2, which the baseline stands for. Its processes look for them in the database. */
export const stepsOf02: readonly string[] = [
  '001-accounts',
  '002-wallets',
  '003-catalog',
  '004-rentals',
  '005-billing',
  '006-service',
  '007-cards',
  '008-invoices',
  '009-upstreams',
  '010-catalog-speed',
  '011-oauth',
  '012-audit',
  '013-reconcile',
  '014-roles',
  '015-operators',
  '016-figures',
  '017-restored',
  '018-parked',
  '019-nothing-stuck',
  '020-lost-machines',
  '021-upstreams-told',
  '022-charge-marks',
  '023-promises-kept',
  '024-sign-in',
  '025-operator-orders',
  '026-credited-by-hand',
  '027-topup-level',
  '028-upstream-limits',
  '029-refunds-of-many',
  '030-events',
  '031-open-streams',
  '032-told',
  '033-webhooks',
  '034-notices',
  '035-quotes',
  '036-changed-rentals',
  '037-progress',
  '038-api-keys',
  '039-caps-and-budgets',
  '040-sessions',
  '041-one-look',
  '042-cheaper-chains',
  '043-unwritten-meters',
  '044-careful-looks',
  '045-marked-when-broken',
];

const schema = 'public';
/** Made and removed within the transaction that compares. */
const scratch = 'gpu_rental_baseline';
const page = 'docs/operations/deploying.md#a-new-version';

/** How a database stands to the baseline. */
export type Beginning = 'empty' | 'release 0.2';

/**
 * Says how the baseline begins on this database, under the lock of the migrations.
 * @param trx the transaction that writes down afterwards that the baseline was taken
 * @param taken the steps that the database has
 * @throws MigrationRefused for a database that is neither empty nor one whose schema is exactly that of 0.2, or of 0.2
 *   and some of the later steps; it lists what differs
 */
export async function findBeginning(
  trx: Knex,
  steps: readonly Step[],
  taken: readonly string[],
): Promise<Beginning> {
  if (taken.length === 0) {
    await refuseStrangers(trx);
    return 'empty';
  }
  const missing = stepsOf02.filter((name) => !taken.includes(name));
  if (missing.length > 0) throw new MigrationRefused(wordsOfMissing(taken, missing));
  const [baseline, ...later] = steps;
  if (!baseline) throw new Error('there is no baseline');
  const expected = [baseline, ...later.filter(({ name }) => taken.includes(name))];
  const differences = await compare(trx, expected);
  if (differences.length > 0) throw new MigrationRefused(wordsOfDifferences(expected, differences));
  return 'release 0.2';
}

/** Refuses a database that holds what no migration made. */
async function refuseStrangers(trx: Knex): Promise<void> {
  const found = [...(await readFingerprint(trx, schema)).keys()];
  const tables = found.filter((what) => /^(table|view) /.test(what)).toSorted();
  if (tables.length === 0) return;
  throw new MigrationRefused(
    `This database has no list of steps, and is not empty: ${firstOf(tables, 5).join(', ')}. Migrate an empty database, or restore this one with its table knex_migrations. Nothing was changed.`,
  );
}

/** Makes the schema that the database should have beside the one that it has, compares both, and takes it back. */
async function compare(trx: Knex, expected: readonly Step[]): Promise<string[]> {
  const found = await readFingerprint(trx, schema);
  const seededTables = [...(expected[0]?.sql ?? '').matchAll(/^INSERT INTO (\w+)/gm)].map(
    ([, table = '']) => table,
  );
  const rows = await readKeys(
    trx,
    seededTables.filter((table) => found.has(`table ${table}`)),
  );
  await trx.raw('savepoint before_comparing');
  try {
    await makeScratch(trx, expected);
    const differences = tellDifferences(await readFingerprint(trx, scratch), found);
    const seeded = await readKeys(trx, seededTables);
    return [...differences, ...missingRows(seeded, rows)];
  } finally {
    await trx.raw('rollback to savepoint before_comparing');
  }
}

async function makeScratch(trx: Knex, expected: readonly Step[]): Promise<void> {
  try {
    await trx.raw('create schema ??', [scratch]);
  } catch (error) {
    if (errorCodeOf(error) !== '42501') throw error;
    throw new MigrationRefused(
      'The user of DATABASE_URL may not make a schema in this database: a schema of its own, which is removed at once, is what the database is compared with. Run as its owner: grant create on database ... to ...; then migrate again. Nothing was changed.',
      { cause: error },
    );
  }
  await trx.raw('create table ??.knex_migrations (like ??.knex_migrations)', [scratch, schema]);
  await trx.raw(`select set_config('search_path', ?, true)`, [scratch]);
  for (const { sql } of expected) await trx.raw(escapeSql(withinTransaction(sql)));
}

/** The primary keys of the rows of these tables, in the schema that is searched. */
async function readKeys(trx: Knex, tables: readonly string[]): Promise<Fingerprint> {
  const keys = new Map<string, string>();
  for (const table of tables) {
    const { rows } = await trx.raw<{ rows: { columns: string[] }[] }>(
      `select array_agg(a.attname::text) as columns from pg_index i
         join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
        where i.indrelid = ?::regclass and i.indisprimary`,
      [table],
    );
    const found = await trx(table).select<object[]>(rows[0]?.columns ?? []);
    for (const row of found) keys.set(`row of ${table}: ${JSON.stringify(row)}`, '');
  }
  return keys;
}

function missingRows(seeded: Fingerprint, found: Fingerprint): string[] {
  return [...seeded.keys()].filter((row) => !found.has(row)).map((row) => `missing: ${row}`);
}

/** knex takes a question mark for a value that is bound. */
export function escapeSql(sql: string): string {
  return sql.replaceAll('?', '\\?');
}

function firstOf(lines: readonly string[], count: number): string[] {
  const rest = lines.length - count;
  return rest > 0 ? [...lines.slice(0, count), `and ${rest} more`] : [...lines];
}

function wordsOfMissing(taken: readonly string[], missing: readonly string[]): string {
  return [
    `This release goes on from release 0.2, and this database is not there: it lacks ${firstOf(missing, 5).join(', ')} (its newest step is ${taken.at(-1) ?? ''}).`,
    `Upgrade to 0.2 first: run the migrations of release 0.2 on it, let its worker and API run once, and migrate again. See ${page}. Nothing was changed.`,
  ].join(' ');
}

function wordsOfDifferences(expected: readonly Step[], differences: readonly string[]): string {
  const files = expected.map(({ name }) => `migrations/${name}.sql`).join(', ');
  return [
    `This database has the steps of release 0.2, but not the schema that they leave (${files}):`,
    ...firstOf(differences, 60).map((line) => `  ${line}`),
    `Nothing was changed. Make good what is missing or different, remove what is unexpected (it can come back afterwards), and migrate again. See ${page}.`,
  ].join('\n');
}
