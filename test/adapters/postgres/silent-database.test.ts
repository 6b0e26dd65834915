import assert from 'node:assert/strict';
import pg from 'pg';
import { isDatabaseAway, isOutcomeUnknown } from '../../../adapters/postgres/availability.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import { openSilentWay, urlOver, type SilentWay } from '../../support/http/silent-way.js';
import { until } from '../../support/until.js';

/** Short deadlines, so that a test sees them pass. Those of the product are in adapters/postgres/deadlines.ts. */
const deadlines = {
  connectMs: 1_000,
  acquireMs: 2_000,
  lockMs: 300,
  statementMs: 600,
  transactionMs: 2_000,
  idleInTransactionMs: 1_000,
  answerMs: 900,
};

describe('a database that goes silent', () => {
  let database: TestDatabase;
  let direct: Database;
  let way: SilentWay;
  let db: Database;

  before(async () => {
    database = await createTestDatabase();
    direct = openDatabase(database.url, 3, 'test');
    await direct.raw('create table notes (text text primary key)');
  });
  after(async () => {
    await direct.destroy();
    await database.drop();
  });
  beforeEach(async () => {
    await direct('notes').delete();
    way = await openSilentWay(Number(new URL(database.url).port));
    db = openDatabase(urlOver(way, database.url), 3, 'silent-test', null, deadlines);
    await db.raw('select 1');
  });
  afterEach(async () => {
    await db.destroy();
    await way.close();
  });

  function notes(): Promise<string[]> {
    return direct('notes').orderBy('text').pluck('text');
  }

  it('is given up in the middle of a select: the next caller gets a fresh connection', async () => {
    way.silence();
    const error = await failureOf(db.raw('select 1'));
    assert.ok(isDatabaseAway(error), String(error));
    assert.ok(isOutcomeUnknown(error), 'nobody knows what became of a statement outside a transaction');
    assert.equal((await db.raw<{ rows: { one: number }[] }>('select 1 as one')).rows[0]?.one, 1);
    await until('the silent socket is closed', () => way.closed === way.silent);
    assert.equal(way.silent, 1);
  });

  it('costs one wait for all connections that went silent with it', async () => {
    await Promise.all([1, 2, 3].map(() => db.raw('select pg_sleep(0.1)')));
    way.silence();
    assert.equal(way.silent, 3);
    await failureOf(db.raw('select 1'));
    for (let asked = 1; asked <= 3; asked += 1) await db.raw('select 1');
    assert.equal(
      way.made,
      4,
      'the first to ask after it has made one anew, and nobody met another silent one',
    );
  });

  it('is given up in the middle of a transaction, of which nothing stays, and nobody writes into it later', async () => {
    const error = await failureOf(
      db.transaction(async (trx) => {
        await trx('notes').insert({ text: 'lost' });
        way.silence();
        await trx('notes').insert({ text: 'lost too' });
      }),
    );
    assert.ok(isDatabaseAway(error), String(error));
    assert.ok(!isOutcomeUnknown(error), 'it was never committed');
    await db.transaction((trx) => trx('notes').insert({ text: 'kept' }));
    await db('notes').insert({ text: 'kept alone' });
    await until('the server ends the transaction that nobody ends', async () => {
      const { rows } = await direct.raw<{ rows: { n: number }[] }>(
        `select count(*) as n from pg_stat_activity
          where application_name = 'silent-test' and state like 'idle in transaction%'`,
      );
      return rows[0]?.n === 0;
    });
    assert.deepEqual(await notes(), ['kept', 'kept alone']);
  });

  for (const arrives of [true, false]) {
    it(`does not tell what became of a commit ${arrives ? 'whose answer is lost' : 'that never arrives'}`, async () => {
      way.silenceAt('COMMIT', arrives);
      const error = await failureOf(db.transaction((trx) => trx('notes').insert({ text: 'perhaps' })));
      assert.ok(isDatabaseAway(error), String(error));
      assert.ok(isOutcomeUnknown(error), String(error));
      // A repetition by key finds the row. The lost connection's locks are gone within the server's own limits.
      await until('the note can be written again', async () =>
        db('notes')
          .insert({ text: 'perhaps' })
          .onConflict('text')
          .ignore()
          .then(
            () => true,
            () => false,
          ),
      );
      assert.deepEqual(await notes(), ['perhaps']);
      assert.equal(way.closed, 1);
    });
  }

  it('never hands out a connection whose rollback was not answered', async () => {
    const fault = new Error('what the work threw');
    const held = db.transaction(async (trx) => {
      await trx('notes').insert({ text: 'lost' });
      way.silence();
      throw fault;
    });
    await failureOf(held);
    await Promise.all([1, 2, 3, 4, 5].map((n) => db('notes').insert({ text: `kept ${n}` })));
    assert.deepEqual(await notes(), ['kept 1', 'kept 2', 'kept 3', 'kept 4', 'kept 5']);
    assert.equal(way.closed, 1);
  });

  it('never hands out a connection that is still within a transaction', async () => {
    // The transaction is left open: its connection comes back to the pool as it is.
    await db.raw('begin');
    await db('notes').insert({ text: 'in a transaction that nobody ends' });
    await db('notes').insert({ text: 'kept' });
    assert.ok((await notes()).includes('kept'));
  });

  it('is noticed while connecting', async () => {
    await db.destroy();
    db = openDatabase(urlOver(way, database.url), 3, 'silent-test', null, deadlines);
    way.silenceNew(true);
    const error = await failureOf(db.raw('select 1'));
    assert.ok(isDatabaseAway(error), String(error));
    way.silenceNew(false);
    await db.raw('select 1');
  });

  it('closes its pool in time although nobody answers the goodbye', async () => {
    await db.raw('select 1');
    way.silence();
    const startedMs = performance.now();
    await db.destroy();
    assert.ok(performance.now() - startedMs < 4_000);
    db = openDatabase(database.url, 1, 'test');
  });

  it('leaves a server that answers late enough to be cut by its own limit', async () => {
    const error = await failureOf(db.raw('select pg_sleep(5)'));
    assert.equal((error as { code?: string }).code, '57014', 'statement_timeout, the server’s own');
    assert.equal(way.made, 1);
    await db.raw('select 1');
    assert.equal(way.made, 1, 'the connection is as good as before');
  });

  it('gives each statement of a transaction its own time, however many are asked at once', async () => {
    const { most } = await underWayDuring(() =>
      db.transaction((trx) => Promise.all([1, 2, 3, 4].map(() => trx.raw('select pg_sleep(0.3)')))),
    );
    assert.equal(way.made, 1);
    assert.equal(most, 1, 'the driver gets one at a time');
  });

  it('ends a transaction that takes too long as a whole, and a wait for a lock', async () => {
    const long = await failureOf(
      db.transaction(async (trx) => {
        for (let step = 0; step < 20; step += 1) await trx.raw('select pg_sleep(0.3)');
      }),
    );
    assert.match(String((long as { code?: string }).code), /^(25P04|DATABASE_LOST)$/);
    const holder = await direct.transaction();
    try {
      await holder.raw('lock table notes in access exclusive mode');
      const waited = await failureOf(db('notes').first());
      assert.equal((waited as { code?: string }).code, '55P03');
    } finally {
      await holder.rollback();
    }
  });
});

/** Counts the statements that the driver has at once of one connection. */
async function underWayDuring(work: () => Promise<unknown>): Promise<{ readonly most: number }> {
  type Query = (this: object, config: unknown, callback: (...answer: unknown[]) => void) => unknown;
  const client = pg.Client.prototype as unknown as { query: Query };
  const { query } = client;
  const underWay = new Map<object, number>();
  let most = 0;
  const change = (connection: object, by: number): void => {
    underWay.set(connection, (underWay.get(connection) ?? 0) + by);
    most = Math.max(most, ...underWay.values());
  };
  client.query = function (config, callback) {
    change(this, 1);
    return query.call(this, config, (...answer) => {
      change(this, -1);
      callback(...answer);
    });
  };
  try {
    await work();
  } finally {
    client.query = query;
  }
  return { most };
}

async function failureOf(work: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(work).then(
    () => assert.fail('it did not fail'),
    (error: unknown) => error,
  );
}

describe('a database that has become a standby', () => {
  let database: TestDatabase;
  let direct: Database;
  let db: Database;

  before(async () => {
    database = await createTestDatabase();
    direct = openDatabase(database.url, 2, 'test');
    await direct.raw('create table notes (text text primary key)');
  });
  after(async () => {
    await db.destroy();
    await direct.destroy();
    await database.drop();
  });

  /** A session keeps what was set when it began, as a connection to the old primary keeps its server. */
  async function setReadOnly(isReadOnly: boolean): Promise<void> {
    const name = new URL(database.url).pathname.slice(1);
    await direct.raw(
      `alter database ${name} set default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`,
    );
  }

  it('is taken for an absent one, and its connections are not used again', async () => {
    await setReadOnly(true);
    db = openDatabase(database.url, 3, 'standby-test', null, deadlines);
    const pids = await Promise.all(
      [1, 2, 3].map(() => db.raw<Pids>('select pg_backend_pid() as pid, pg_sleep(0.1)')),
    );
    const error = await failureOf(db('notes').insert({ text: 'refused' }));
    assert.ok(isDatabaseAway(error), String(error));
    assert.equal(isOutcomeUnknown(error), false, 'the server says that it wrote nothing');
    await setReadOnly(false);
    await Promise.all([1, 2, 3].map((n) => db('notes').insert({ text: `kept ${n}` })));
    const again = await Promise.all(
      [1, 2, 3].map(() => db.raw<Pids>('select pg_backend_pid() as pid, pg_sleep(0.1)')),
    );
    const pidsOf = (all: readonly Pids[]) => all.map(({ rows }) => rows[0]?.pid);
    const old = new Set(pidsOf(pids));
    assert.deepEqual(
      pidsOf(again).filter((pid) => old.has(pid)),
      [],
    );
  });
});

interface Pids {
  readonly rows: { readonly pid: number }[];
}
