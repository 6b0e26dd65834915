import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import dns from 'node:dns';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { concurrentIndex, isConcurrent } from '../../migrations/concurrently.js';
import { migrateToLatest } from '../../migrations/migrate.js';
import { readSteps, schemaSteps, steps, type Step } from '../../migrations/steps.js';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/servers/database.js';
import { until } from '../support/until.js';

const step = (name: string, sql: string): Step => ({ name, sql });
const nickname = step('900-nickname', 'alter table users add column nickname text');

describe('the migrations', () => {
  const open: { database: TestDatabase; db: Database }[] = [];

  afterEach(async () => {
    for (const { database, db } of open.splice(0)) {
      await db.destroy();
      await database.drop();
    }
  });

  async function on(made: Promise<TestDatabase>): Promise<{ url: string; db: Database }> {
    const database = await made;
    const db = openDatabase(database.url, 3, 'test');
    open.push({ database, db });
    return { url: database.url, db };
  }

  const namesIn = (db: Database): Promise<string[]> =>
    db<{ name: string }>('knex_migrations').orderBy('id').pluck('name');
  const hasColumn = (db: Database, name: string): Promise<boolean> => db.schema.hasColumn('users', name);

  it('go on by themselves once nobody holds what a step changes', async () => {
    const { url, db } = await on(createTestDatabase());
    const holder = await db.transaction();
    await holder('users').first();
    let waits: (line: string) => void = () => undefined;
    const waited = new Promise<string>((resolve) => (waits = resolve));
    const migrated = migrateToLatest(url, { steps: [...steps, nickname], say: waits });
    assert.match(await waited, /900-nickname waits/);
    // What comes later waits for half a second at most, and is not refused.
    await db('users').first();
    await holder.commit();
    assert.deepEqual(await migrated, ['900-nickname']);
    assert.ok(await hasColumn(db, 'nickname'));
  });

  it('give up in words where no moment is found', async () => {
    const { url, db } = await on(createTestDatabase());
    const holder = await db.transaction();
    await holder('users').first();
    await assert.rejects(migrateToLatest(url, { steps: [...steps, nickname], patienceMs: 0 }), {
      name: 'MigrationRefused',
      message: /^The step 900-nickname found no moment .* nothing of it stays\./,
    });
    await holder.commit();
    assert.deepEqual(await namesIn(db), schemaSteps);
  });

  it('give way where they and the service wait for each other', async () => {
    const { url, db } = await on(createTestDatabase());
    const both = step('900-both', 'lock table users; lock table wallets;');
    const holder = await db.transaction();
    await holder('wallets').first();
    let waits: (line: string) => void = () => undefined;
    const waited = new Promise<string>((resolve) => (waits = resolve));
    const migrated = migrateToLatest(url, { steps: [...steps, both], say: waits });
    await waited;
    await holder('users').first();
    await holder.commit();
    assert.deepEqual(await migrated, ['900-both']);
  });

  it('take each step once, however many begin at a time', async () => {
    const { url, db } = await on(createEmptyDatabase());
    const taken = await Promise.all([1, 2, 3].map(() => migrateToLatest(url)));
    assert.deepEqual(taken.flat().toSorted(), schemaSteps);
    assert.deepEqual(await namesIn(db), schemaSteps);
  });

  it('keep the steps before one that fails, nothing of itself, and say where in words', async () => {
    const { url, db } = await on(createTestDatabase());
    const fails = step('901-fails', 'alter table users add column motto text;\nupdate users set mottoo = 1;');
    await assert.rejects(migrateToLatest(url, { steps: [...steps, nickname, fails] }), {
      name: 'MigrationRefused',
      message:
        'The step 901-fails failed, and nothing of it stays: column "mottoo" of relation "users" does not exist (901-fails.sql, line 2)',
    });
    assert.deepEqual(await namesIn(db), [...schemaSteps, '900-nickname']);
    assert.deepEqual([await hasColumn(db, 'nickname'), await hasColumn(db, 'motto')], [true, false]);
  });

  it('leave an empty database empty where the baseline fails', async () => {
    const { url, db } = await on(createEmptyDatabase());
    const [baseline, ...later] = steps;
    const broken = step(baseline!.name, `${baseline!.sql}\nselect nothing;`);
    await assert.rejects(migrateToLatest(url, { steps: [broken, ...later] }), { name: 'MigrationRefused' });
    assert.equal(await db.schema.hasTable('wallets'), false);
    assert.deepEqual(await migrateToLatest(url), schemaSteps);
  });

  describe('that build an index', () => {
    const unique = step(
      '900-index',
      '-- Is it once? Who knows.\ncreate unique index concurrently users_domain_once on users (split_part(email, $$@$$, 2)) where email <> $$?$$;',
    );
    const insertUser = (db: Database, no: number, domain = 'example.com') =>
      db('users').insert({ id: `usr_${String(no).padStart(26, '0')}`, email: `${no}@${domain}` });
    const isValid = async (db: Database): Promise<boolean | undefined> => {
      const { rows } = await db.raw<{ rows: { valid: boolean }[] }>(
        `select indisvalid as valid from pg_index where indexrelid = to_regclass('users_domain_once')`,
      );
      return rows[0]?.valid;
    };

    it('do it while others write', async () => {
      const { url, db } = await on(createTestDatabase());
      const writer = await db.transaction();
      await insertUser(writer, 1);
      const migrated = migrateToLatest(url, { steps: [...steps, unique] });
      await until('the index waits for who wrote before', async () => (await isValid(db)) === false);
      await insertUser(db, 2, 'example.org');
      await writer.commit();
      assert.deepEqual(await migrated, ['900-index']);
      assert.equal(await isValid(db), true);
    });

    it('wait where the name of the database can’t be resolved for the moment', async () => {
      const { url, db } = await on(createTestDatabase());
      const { lookup } = dns;
      let lookups = 0;
      const failing = function (this: unknown, ...args: unknown[]): unknown {
        lookups += 1;
        if (lookups !== 2) return Reflect.apply(lookup, this, args);
        const fault = Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' });
        return (args.at(-1) as (error: Error) => unknown)(fault);
      };
      Object.assign(dns, { lookup: failing });
      try {
        const said: string[] = [];
        const options = { steps: [...steps, unique], say: (line: string) => said.push(line) };
        assert.deepEqual(await migrateToLatest(url.replace('127.0.0.1', 'localhost'), options), [
          '900-index',
        ]);
        assert.match(said.join(), /900-index waits: the database’s name can’t be resolved/);
      } finally {
        Object.assign(dns, { lookup });
      }
      assert.equal(await isValid(db), true);
    });

    it('build one anew that was left unfinished', async () => {
      const { url, db } = await on(createTestDatabase());
      for (const no of [1, 2]) await insertUser(db, no);
      const migrate = () => migrateToLatest(url, { steps: [...steps, unique] });
      await assert.rejects(migrate(), {
        name: 'MigrationRefused',
        message:
          /900-index failed, and an index that it left unfinished is built anew by the next try: .*users_domain_once/,
      });
      assert.equal(await isValid(db), false);
      assert.deepEqual(await namesIn(db), schemaSteps);
      await db('users').where({ email: '2@example.com' }).delete();
      assert.deepEqual(await migrate(), ['900-index']);
      assert.equal(await isValid(db), true);
      await assert.rejects(insertUser(db, 2), /users_domain_once/);
    });

    it('do nothing else', () => {
      const others = steps.filter(isConcurrent).map(({ name, sql }) => {
        const rest = sql.replaceAll(/^--.*$/gm, '').replaceAll(concurrentIndex, '');
        return [name, rest.trim()];
      });
      assert.ok(others.length > 0);
      for (const [name, rest] of others) assert.equal(rest, '', name);
    });
  });

  it('take a question mark for what it is', async () => {
    const { url, db } = await on(createTestDatabase());
    const asks = step('900-asks', `create table asked as select '{"a":1}'::jsonb ? 'a' as has, '?' as mark`);
    await migrateToLatest(url, { steps: [...steps, asks] });
    assert.deepEqual(await db('asked' as 'users').first(), { has: true, mark: '?' });
  });

  it('say of a schema that a newer release has left that this one works on it', async () => {
    const { url } = await on(createTestDatabase());
    await migrateToLatest(url, { steps: [...steps, nickname] });
    const said: string[] = [];
    assert.deepEqual(await migrateToLatest(url, { say: (line) => said.push(line) }), []);
    assert.deepEqual(said, ['The schema is newer than this release, which works on it: 900-nickname']);
  });

  it('tell whoever runs them what is wrong in one line', async () => {
    const env = {
      ...process.env,
      DATABASE_URL: 'postgres://gpu_rental:wrong@127.0.0.1:1/gpu_rental',
      ...{
        TEMPORAL_ADDRESS: '127.0.0.1:1',
        DASHBOARD_URL: 'http://127.0.0.1:1',
        SMTP_URL: 'smtp://127.0.0.1:1',
      },
    };
    const run = promisify(execFile)(process.execPath, ['--import', 'tsx', 'migrations/run.ts'], { env });
    await assert.rejects(run, {
      code: 1,
      stdout: '',
      stderr:
        "The database of DATABASE_URL can't be migrated: connect ECONNREFUSED 127.0.0.1:1 (ECONNREFUSED)\n",
    });
  });

  describe('are the files of a folder', () => {
    const folder = mkdtempSync(join(tmpdir(), 'steps-'));
    after(() => rmSync(folder, { recursive: true }));
    const write = (name: string) => writeFileSync(join(folder, name), 'select 1');
    const read = () => readSteps(pathToFileURL(`${folder}/`)).map(({ name }) => name);

    it('in the order of their numbers', () => {
      for (const name of ['010-later.sql', '002-first.sql', 'notes.md']) write(name);
      assert.deepEqual(read(), ['002-first', '010-later']);
    });

    it('each with a number of its own', () => {
      write('010-again.sql');
      assert.throws(read, /010-again\.sql and 010-later\.sql have the same number/);
      rmSync(join(folder, '010-again.sql'));
      write('labels.sql');
      assert.throws(read, /labels\.sql: a step is named by its number/);
    });
  });
});
