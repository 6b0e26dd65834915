import assert from 'node:assert/strict';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { isDatabaseAway } from '../../../adapters/postgres/availability.js';
import { refusalOf } from '../../../api/http/middleware/errors.js';
import { askForChanges } from '../../../adapters/postgres/schema.js';
import { openDatabase } from '../../../adapters/postgres/database.js';
import { schemaSteps } from '../../../migrations/steps.js';
import { startApi, type TestApi } from '../../support/http/api.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import { insertSessionOf, insertUser } from '../../support/money/factories.js';
import { getTemporal } from '../../support/servers/servers.js';

describe('health', () => {
  let api: TestApi;

  before(async () => {
    api = await startApi({ temporalAddress: (await getTemporal()).address });
  });
  after(() => api.stop());

  it('GET /healthz says that the process lives', async () => {
    const answer = await api.stranger().get('/healthz');
    assert.deepEqual([answer.status, answer.body], [200, { status: 'ok' }]);
  });

  it('GET /readyz says that Postgres and Temporal answer, and which brakes are pulled', async () => {
    const before = await api.stranger().get('/readyz');
    assert.equal(before.status, 200);
    assert.deepEqual(before.body, {
      status: 'ready',
      checks: { postgres: 'ok', schema: 'ok', temporal: 'ok', brakes: [] },
    });
    await api.db('brakes').insert({ kind: 'creates', pulled_by: 'ann', reason: 'test' });
    const braked = await api.stranger().get('/readyz');
    assert.equal(braked.status, 200);
    assert.deepEqual(braked.body.checks.brakes, ['creates']);
  });

  it('GET /readyz is 503 while the schema is behind what this code needs', async () => {
    const step = schemaSteps.at(-1)!;
    await api.db.raw('delete from knex_migrations where name = ?', [step]);
    try {
      const answer = await api.stranger().get('/readyz');
      assert.equal(answer.status, 503);
      assert.equal(answer.body.checks.schema, 'behind');
      assert.ok(!JSON.stringify(answer.body).includes(step), 'what is missing stands in the log alone');
    } finally {
      await api.db.raw('insert into knex_migrations (name, batch, migration_time) values (?, 1, now())', [
        step,
      ]);
    }
    assert.equal((await api.stranger().get('/readyz')).status, 200);
  });

  it('GET /readyz treats a database that does not answer in time as away', async () => {
    const hasty = await startApi({ settings: { reachMs: 300 } });
    const held = await hasty.db.transaction();
    try {
      await held.raw('lock table brakes in access exclusive mode');
      // Nothing but the limit ends this: the table stays locked.
      const answer = await hasty.stranger().get('/readyz');
      assert.deepEqual([answer.status, answer.body.checks.postgres], [503, 'away']);
    } finally {
      await held.rollback();
      await hasty.stop();
    }
  });

  it('GET /readyz is degraded, and no reason to send nobody here, while Temporal is away', async () => {
    const alone = await startApi();
    try {
      const answer = await alone.stranger().get('/readyz');
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.body, {
        status: 'degraded',
        checks: { postgres: 'ok', schema: 'ok', temporal: 'away', brakes: [] },
      });
    } finally {
      await alone.stop();
    }
  });

  describe('while all connections of its pool are taken', () => {
    let busy: TestApi;
    before(async () => {
      busy = await startApi({ settings: { readyKeptMs: 1_000, reachMs: 300 } });
    });
    after(() => busy.stop());

    interface Pool {
      numUsed(): number;
      numPendingAcquires(): number;
    }

    it('answers 503 soon, lets /readyz wait for one connection at most, and leaks none', async () => {
      const { pool } = busy.deps.db.client as { pool: Pool };
      const client = await busy.signIn();
      const held = await Promise.all(Array.from({ length: 10 }, () => busy.deps.db.transaction()));
      try {
        const startMs = performance.now();
        const asked = Promise.all(Array.from({ length: 50 }, () => busy.stranger().get('/readyz')));
        await until(() => pool.numPendingAcquires() > 0);
        assert.equal(pool.numPendingAcquires(), 1);
        for (const answer of await asked) assert.equal(answer.body.checks.postgres, 'away');
        const answer = await client.get('/v1/billing/balance');
        assert.deepEqual([answer.status, answer.body.error], [503, 'temporarily_unavailable']);
        assert.ok(performance.now() - startMs < 8_000);
      } finally {
        await Promise.all(held.map((trx) => trx.rollback()));
      }
      await until(() => pool.numUsed() === 0 && pool.numPendingAcquires() === 0);
      assert.equal((await client.get('/v1/billing/balance')).status, 200);
    });

    it('asks the database once for all who ask within a second', async () => {
      const counted = { statements: 0 };
      busy.deps.db.on('query', () => (counted.statements += 1));
      for (let round = 0; round < 20; round += 1) await busy.stranger().get('/readyz');
      assert.ok(counted.statements <= 3, `${counted.statements} statements for 20 questions`);
    });
  });

  describe('while Postgres is away', () => {
    let database: TestDatabase;
    let way: Way;
    let cut: TestApi;
    let token: string;

    before(async () => {
      database = await createTestDatabase();
      way = await openWay(new URL(database.url));
      cut = await startApi({ databaseUrl: urlThrough(database.url, way.port) });
      token = await insertSessionOf(cut.db, (await insertUser(cut.db)).id);
    });
    after(async () => {
      await cut.stop();
      await way.close();
      await database.drop();
    });

    it('answers 503 and comes back by itself', async () => {
      const client = cut.stranger();
      client.sid = token;
      assert.equal((await client.get('/v1/auth/me')).status, 200);
      await way.block();
      const answer = await client.get('/v1/auth/me');
      assert.deepEqual([answer.status, answer.body.error], [503, 'temporarily_unavailable']);
      assert.ok(!JSON.stringify(answer.body).includes('select'), 'nothing inside is shown');
      const ready = await client.get('/readyz');
      assert.deepEqual([ready.status, ready.body.checks.postgres], [503, 'away']);
      await way.unblock();
      assert.equal((await client.get('/v1/auth/me')).status, 200);
    });

    it('answers 503 while only a standby answers, and writes again by itself', async () => {
      const client = cut.stranger();
      client.sid = await insertSessionOf(cut.db, (await insertUser(cut.db)).id);
      // Its session began before, and still writes.
      const owner = openDatabase(database.url, 1, 'test');
      const setReadOnly = async (word: 'on' | 'off'): Promise<void> => {
        const name = new URL(database.url).pathname.slice(1);
        await owner.raw(`alter database ${name} set default_transaction_read_only = ${word}`);
      };
      await setReadOnly('on');
      way.cut();
      const ready = { postgres: '', status: 0 };
      while (ready.postgres !== 'read_only') {
        const { status, body } = await cut.stranger().get('/readyz');
        Object.assign(ready, { status, postgres: body.checks.postgres });
      }
      assert.equal(ready.status, 503);
      await assert.rejects(askForChanges(cut.deps.db), /takes no changes/);
      const refused = await client.post('/v1/auth/logout', {});
      assert.deepEqual([refused.status, refused.body.error], [503, 'temporarily_unavailable']);
      await setReadOnly('off');
      assert.equal((await client.post('/v1/auth/logout', {})).status, 200);
      await owner.destroy();
    });

    it('tells a connection that broke in the middle of a query from a query that is wrong', async () => {
      const db = openDatabase(urlThrough(database.url, way.port), 2, 'test');
      try {
        const broken = db.raw('select pg_sleep(20)').then(
          () => undefined,
          (error: unknown) => error,
        );
        await until(() => way.connections > 0);
        await new Promise((resolve) => setTimeout(resolve, 100));
        way.cut();
        assert.equal(isDatabaseAway(await broken), true);
        const wrong: unknown = await db.raw('select nothing').catch((error: unknown) => error);
        assert.equal(isDatabaseAway(wrong), false);
        const terminated: unknown = await db
          .raw('select pg_terminate_backend(pg_backend_pid())')
          .catch((error: unknown) => error);
        assert.equal(isDatabaseAway(terminated), true);
      } finally {
        await db.destroy();
      }
    });
  });
});

describe('refusalOf', () => {
  it('asks to try again where the server says what passes, and shows any other failure as ours', () => {
    const codeFor = (code: string) => refusalOf(Object.assign(new Error('said the server'), { code })).code;
    const passing = [
      '40001',
      '40P01',
      '55P03',
      '57014',
      '25P03',
      '25P04',
      '25006',
      '53100',
      '53200',
      '57P01',
    ];
    for (const state of passing) assert.equal(codeFor(state), 'temporarily_unavailable', state);
    for (const state of ['22P02', '23505', '25P02', '42703', 'P0001', 'XX000']) {
      assert.equal(codeFor(state), 'internal_error', state);
    }
  });
});

describe('isDatabaseAway', () => {
  it('does not take other failures for an absent database', () => {
    for (const error of [new Error('anything'), new TypeError('x is not a function'), 'text', undefined]) {
      assert.equal(isDatabaseAway(error), false);
    }
    assert.equal(isDatabaseAway(Object.assign(new Error('duplicate'), { code: '23505' })), false);
    assert.equal(isDatabaseAway(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })), true);
    assert.equal(isDatabaseAway(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })), true);
    assert.equal(isDatabaseAway(Object.assign(new Error('starting up'), { code: '57P03' })), true);
    assert.equal(isDatabaseAway(Object.assign(new Error('read-only'), { code: '25006' })), true);
    assert.equal(isDatabaseAway(Object.assign(new Error('deadlock'), { code: '40P01' })), false);
  });
});

/** A connection to the database that can be cut, as a network can. */
interface Way {
  readonly port: number;
  readonly connections: number;
  /** Breaks the open connections. */
  cut(): void;
  block(): Promise<void>;
  unblock(): Promise<void>;
  close(): Promise<void>;
}

async function openWay(target: URL): Promise<Way> {
  const sockets = new Set<Socket>();
  let server = makeServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  function makeServer(): Server {
    return createServer((socket) => {
      const onward = createConnection(Number(target.port), target.hostname);
      for (const end of [socket, onward]) {
        sockets.add(end);
        end.on('error', () => undefined).on('close', () => sockets.delete(end));
      }
      socket.pipe(onward).pipe(socket);
    });
  }

  const way: Way = {
    port,
    get connections() {
      return sockets.size;
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async block() {
      const closed = once(server, 'close');
      server.close();
      way.cut();
      await closed;
    },
    async unblock() {
      server = makeServer();
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    close: () => (server.listening ? way.block() : Promise.resolve()),
  };
  return way;
}

function urlThrough(url: string, port: number): string {
  const through = new URL(url);
  through.port = String(port);
  return through.toString();
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}
