import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { openDatabase, type Database, type Transaction } from '../../adapters/postgres/database.js';
import { databaseDeadlines } from '../../adapters/postgres/deadlines.js';
import { verifyLedger } from '../../adapters/postgres/ledger/verify.js';
import { readFingerprint, tellDifferences, type Fingerprint } from '../../migrations/fingerprint.js';
import { migrateToLatest } from '../../migrations/migrate.js';
import { schemaSteps, steps } from '../../migrations/steps.js';
import { findBeginning, stepsOf02 } from '../../migrations/takeover.js';
import {
  copyDatabase,
  createEmptyDatabase,
  createTestDatabase,
  restoreDump,
  type TestDatabase,
} from '../support/servers/database.js';

/** A database as release 0.2 left it: rentals that run, one that has ended, an open invoice. */
const dump = new URL('release-0.2.sql.gz', import.meta.url);

/** A comparison on a busy machine may take longer than what a request waits for. */
const patient = {
  ...databaseDeadlines.worker,
  ...{ statementMs: 600_000, transactionMs: 600_000, idleInTransactionMs: 600_000, answerMs: 600_000 },
};

/** What may have happened to a schema since, and the words by which it is told. */
const changes: readonly (readonly [change: string, words: RegExp])[] = [
  ['drop index rentals_of_key', /missing: index rentals_of_key on rentals\n/],
  ['create index by_name on users (email)', /unexpected: index by_name on users\n/],
  [
    `create or replace function append_only() returns trigger language plpgsql as $$ begin return new; end $$`,
    /different: function append_only\(\)\n +expected: .*\n +found: .*\n/,
  ],
  [
    'grant delete on ledger_entries to gpu_rental_worker',
    /different: rights on ledger_entries of gpu_rental_worker\n +expected: INSERT, SELECT\n +found: +DELETE, INSERT, SELECT\n/,
  ],
  ['revoke select on meters from gpu_rental_ops', /missing: rights on meters of gpu_rental_ops\n/],
  [
    'revoke select on knex_migrations from gpu_rental_api',
    /missing: rights on knex_migrations of gpu_rental_api/,
  ],
  ['grant execute on function step_over_lost_numbers() to public', /different: function step_over_lost/],
  ['alter table wallets disable trigger wallets_changed', /different: trigger wallets_changed on wallets\n/],
  [
    'alter table wallets drop constraint wallets_seq_check',
    /missing: constraint wallets_seq_check of wallets/,
  ],
  [
    'alter table wallets alter created_at drop not null, add column nickname text',
    /different: column wallets.created_at\n(.*\n)*.*unexpected: column wallets.nickname\n/,
  ],
  ['alter table wallets reset (fillfactor)', /different: table wallets\n/],
  ['alter table users enable row level security', /different: table users\n/],
  [`alter type ledger_entry_type add value 'gift'`, /different: type ledger_entry_type\n/],
  ['drop table odd_events', /missing: table odd_events\n/],
  ['drop view free_machines', /missing: view free_machines\n/],
  ['create domain cents as bigint', /unexpected: type cents\n/],
  ['delete from webhook_feed', /missing: row of webhook_feed: \{"singleton":true\}\n/],
  [
    `delete from installation_keys where name = 'known_browsers'`,
    /missing: row of installation_keys: \{"name":"known_browsers"\}\n/,
  ],
];

/** What may be wrong with the list of steps. */
const lists: readonly (readonly [change: string, words: RegExp])[] = [
  [`delete from knex_migrations where name = '030-events'`, /it lacks 030-events .*Upgrade to 0\.2 first/],
  [
    `delete from knex_migrations where name >= '024'`,
    /it lacks 024-sign-in, .* and 17 more .*Upgrade to 0\.2/,
  ],
  ['delete from knex_migrations', /has no list of steps, and is not empty: table /],
];

describe('a database of release 0.2', () => {
  let kept: TestDatabase;
  let fresh: Fingerprint;

  before(async () => {
    // The first database of a server brings the roles, which belong to all of them.
    fresh = await readFresh();
    kept = await createEmptyDatabase();
    await restoreDump(kept, gunzipSync(readFileSync(dump)).toString('utf8'));
  });
  after(() => kept.drop());

  it('is taken over, with every row and every cent as it was', () =>
    onCopy(async (db, url) => {
      const columns = await readColumns(db);
      const before = await readRows(db, columns);
      const said: string[] = [];
      assert.deepEqual(await migrateToLatest(url, { say: (line) => said.push(line) }), schemaSteps);
      assert.match(said.join('\n'), /is that of release 0\.2/);
      assert.deepEqual(await readRows(db, columns), before);
      assert.deepEqual(await verifyLedger(db), []);
      // Processes of 0.2 that still run look for its steps.
      assert.deepEqual((await readSteps(db)).toSorted(), [...stepsOf02, ...schemaSteps].toSorted());
      assert.deepEqual(tellDifferences(fresh, await readPublic(db)), []);
    }));

  it('is taken over where it has some of the later steps already', () =>
    onCopy(async (db, url) => {
      const [, second] = steps;
      await db.raw(second!.sql.replaceAll('?', '\\?'));
      await db('knex_migrations').insert({ name: second!.name, batch: 1, migration_time: new Date() });
      assert.deepEqual(
        await migrateToLatest(url),
        schemaSteps.filter((name) => name !== second!.name),
      );
      assert.deepEqual(tellDifferences(fresh, await readPublic(db)), []);
    }));

  it('is refused, and left alone, where its schema differs: each difference is told', () =>
    inTransaction(async (trx) => {
      for (const [change] of changes) await trx.raw(change);
      const before = await readFingerprint(trx, 'public');
      const refusal = findBeginning(trx, steps, await readSteps(trx));
      for (const [, words] of changes) await assert.rejects(refusal, isRefusal(words));
      assert.deepEqual(tellDifferences(before, await readFingerprint(trx, 'public')), []);
      const { rows } = await trx.raw<{ rows: unknown[] }>(
        `select 1 from pg_namespace where nspname = 'gpu_rental_baseline'`,
      );
      assert.deepEqual(rows, []);
    }));

  for (const [change, words] of lists) {
    it(`is refused after: ${change}`, () =>
      inTransaction(async (trx) => {
        await trx.raw(change);
        await assert.rejects(findBeginning(trx, steps, await readSteps(trx)), isRefusal(words));
      }));
  }

  it('keeps its steps when it is refused', () =>
    onCopy(async (db, url) => {
      await db.raw('drop index rentals_of_key');
      const before = await readSteps(db);
      await assert.rejects(migrateToLatest(url), isRefusal(/missing: index rentals_of_key on rentals/));
      assert.deepEqual(await readSteps(db), before);
    }));

  /** Does something whose traces are rolled back. */
  async function inTransaction(work: (trx: Transaction) => Promise<void>): Promise<void> {
    const db = openDatabase(kept.url, 1, 'test', null, patient);
    const trx = await db.transaction();
    try {
      await work(trx);
    } finally {
      await trx.rollback();
      await db.destroy();
    }
  }

  async function onCopy(work: (db: Database, url: string) => Promise<void>): Promise<void> {
    const copy = await copyDatabase(kept);
    const db = openDatabase(copy.url, 2, 'test');
    try {
      await work(db, copy.url);
    } finally {
      await db.destroy();
      await copy.drop();
    }
  }
});

const isRefusal =
  (words: RegExp) =>
  ({ name, message }: Error): boolean => {
    assert.equal(name, 'MigrationRefused');
    assert.match(message, words);
    assert.match(message, /Nothing was changed/);
    return true;
  };

function readPublic(db: Database): Promise<Fingerprint> {
  return db.transaction((trx) => readFingerprint(trx, 'public'));
}

/** A database that began at the baseline. */
async function readFresh(): Promise<Fingerprint> {
  const database = await createTestDatabase();
  const db = openDatabase(database.url, 1, 'test');
  try {
    return await readPublic(db);
  } finally {
    await db.destroy();
    await database.drop();
  }
}

async function readSteps(db: Database): Promise<string[]> {
  return db<{ name: string }>('knex_migrations').orderBy('id').pluck('name');
}

/** The columns of each table, but for the list of steps. */
async function readColumns(db: Database): Promise<Record<string, string[]>> {
  const { rows } = await db.raw<{ rows: { name: string; columns: string[] }[] }>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname not like 'knex%' group by 1`,
  );
  return Object.fromEntries(rows.map(({ name, columns }) => [name, columns]));
}

/** The rows of these tables, each table as one sum. */
async function readRows(db: Database, tables: Record<string, string[]>): Promise<Record<string, string>> {
  const sums: Record<string, string> = {};
  for (const [name, columns] of Object.entries(tables)) {
    const row = columns.map((column) => `"${column}"`).join(', ');
    const { rows } = await db.raw<{ rows: { sum: string }[] }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' order by t::text)), '') as sum
         from (select ${row} from ??) t`,
      [name],
    );
    sums[name] = rows[0]?.sum ?? '';
  }
  return sums;
}
