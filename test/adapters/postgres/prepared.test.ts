import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo } from 'node:net';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import {
  ReadAhead,
  runPrepared,
  readPreparedWith,
  type Prepared,
} from '../../../adapters/postgres/prepared.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import { until } from '../../support/until.js';

const note: Prepared<readonly [number]> = { name: 'note', sql: 'select * from notes where no = $1::int' };
const double: Prepared<readonly [number]> = { name: 'double', sql: 'select $1::int * 2 as twice' };
const failing: Prepared<readonly [number]> = { name: 'failing', sql: 'select 1 / $1::int as none' };

describe('prepared statements (decision 121)', () => {
  let database: TestDatabase;
  let db: Database;

  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());
  beforeEach(async () => {
    // One connection, so that each statement meets what the ones before it left.
    db = openDatabase(database.url, 1, 'prepared-test');
    await db.raw('create table notes (no int primary key, text text)');
    await db.raw("insert into notes values (1, 'one')");
  });
  afterEach(async () => {
    await db.raw('drop table notes');
    await db.destroy();
  });

  const read = () => runPrepared(db, note, [1]);

  async function known(): Promise<string[]> {
    const { rows } = await db.raw<{ rows: { name: string }[] }>('select name from pg_prepared_statements');
    return rows.map(({ name }) => name).sort();
  }

  it('are planned once for a connection', async () => {
    assert.deepEqual(await read(), [{ no: 1, text: 'one' }]);
    assert.deepEqual(await read(), [{ no: 1, text: 'one' }]);
    assert.match(String(await known()), /^note_[0-9a-f]{8}_1$/);
  });

  it('go on after a migration that changes what they answer', async () => {
    await read();
    await db.raw("alter table notes add column author text not null default 'ann'");
    assert.deepEqual(await read(), [{ no: 1, text: 'one', author: 'ann' }]);
    assert.match(String(await known()), /^note_([0-9a-f]{8})_1,note_\1_2$/);
    assert.deepEqual(await read(), [{ no: 1, text: 'one', author: 'ann' }]);
  });

  it('are sent whole from then on where the connection has forgotten one, as behind a pooler', async () => {
    await read();
    await db.raw('deallocate all');
    assert.deepEqual(await read(), [{ no: 1, text: 'one' }]);
    assert.deepEqual(await read(), [{ no: 1, text: 'one' }]);
    assert.deepEqual(await known(), []);
  });

  it('are sent whole within a transaction, which an outdated plan would end', async () => {
    const rows = await db.transaction((trx) => runPrepared(trx, note, [1]));
    assert.deepEqual(rows, [{ no: 1, text: 'one' }]);
    assert.deepEqual(await known(), []);
  });

  it('tell their own failures', async () => {
    await assert.rejects(runPrepared(db, failing, [0]), /division by zero/);
    await assert.rejects(runPrepared(db, failing, [0]), /division by zero/);
  });

  it('take another along: both leave before an answer has come', async () => {
    const way = await openHeldWay(Number(new URL(database.url).port));
    const slow = openDatabase(urlOver(way.port, database.url), 1, 'prepared-test');
    await slow.raw('select 1');
    way.hold();
    const ahead = new ReadAhead(double, [21]);
    const reading = readPreparedWith(slow, note, [1], ahead);
    await until('both statements have left', () => /note_\w{8}_1/.test(way.sent()));
    assert.ok(/double_\w{8}_1/.test(way.sent()), 'the second one waits for the answer of the first');
    way.release();
    assert.deepEqual(await reading, [{ no: 1, text: 'one' }]);
    assert.deepEqual(ahead.take(double, [21]), [{ twice: 42 }]);
    await slow.destroy();
    await way.close();
  });

  it('do not fail with the one that they take along, nor it with them', async () => {
    const ahead = new ReadAhead(failing, [0]);
    assert.deepEqual(await readPreparedWith(db, note, [1], ahead), [{ no: 1, text: 'one' }]);
    assert.throws(() => ahead.take(failing, [0]), /division by zero/);
    assert.equal(ahead.take(failing, [0]), undefined, 'it is told once');
    await assert.rejects(readPreparedWith(db, failing, [0], new ReadAhead(double, [1])), /division by zero/);
    assert.deepEqual(await readPreparedWith(db, note, [1], new ReadAhead(double, [1])), [
      { no: 1, text: 'one' },
    ]);
    await db.transaction(async (trx) => {
      assert.deepEqual(await runPrepared(trx, double, [4]), [{ twice: 8 }]);
    });
  });

  it('take along what a migration has changed', async () => {
    await readPreparedWith(db, double, [1], new ReadAhead(note, [1]));
    await db.raw("alter table notes add column author text not null default 'ann'");
    const ahead = new ReadAhead(note, [1]);
    assert.deepEqual(await readPreparedWith(db, double, [1], ahead), [{ twice: 2 }]);
    assert.deepEqual(ahead.take(note, [1]), [{ no: 1, text: 'one', author: 'ann' }]);
  });
});

describe('what was read ahead', () => {
  const kept = () => {
    const ahead = new ReadAhead(note, [1]);
    ahead.keep({ status: 'fulfilled', value: [{ no: 1 }] });
    return ahead;
  };

  it('is for the same statement with the same values alone, and once', () => {
    const ahead = kept();
    assert.equal(ahead.take(double, [1]), undefined);
    assert.equal(ahead.take(note, [2]), undefined);
    assert.equal(ahead.take(note, []), undefined);
    assert.deepEqual(ahead.take(note, [1]), [{ no: 1 }]);
    assert.equal(ahead.take(note, [1]), undefined);
  });

  it('is not for whoever comes late', () => {
    const now = performance.now();
    const ahead = kept();
    const original = performance.now.bind(performance);
    performance.now = () => now + 1_000;
    try {
      assert.equal(ahead.take(note, [1]), undefined);
    } finally {
      performance.now = original;
    }
  });
});

/** A way to a port of this machine on which answers can be held back. */
interface HeldWay {
  readonly port: number;
  hold(): void;
  release(): void;
  /** All that was sent since answers are held. */
  sent(): string;
  close(): Promise<void>;
}

async function openHeldWay(targetPort: number): Promise<HeldWay> {
  const state: { held: (() => void)[] | undefined; sent: Buffer[] } = { held: undefined, sent: [] };
  const server = createServer((near) => {
    const far = createConnection(targetPort, '127.0.0.1');
    near.on('data', (chunk: Buffer) => {
      state.sent.push(chunk);
      far.write(chunk);
    });
    far.on('data', (chunk: Buffer) => {
      if (state.held) state.held.push(() => near.write(chunk));
      else near.write(chunk);
    });
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    hold() {
      state.held = [];
      state.sent = [];
    },
    release() {
      for (const pass of state.held ?? []) pass();
      state.held = undefined;
    },
    sent: () => Buffer.concat(state.sent).toString('latin1'),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}

function urlOver(port: number, databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.port = String(port);
  return url.toString();
}
