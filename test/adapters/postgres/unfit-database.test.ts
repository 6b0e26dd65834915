import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo, type Server } from 'node:net';
import { isDatabaseAway } from '../../../adapters/postgres/availability.js';
import { openDatabase } from '../../../adapters/postgres/database.js';
import { databaseDeadlines } from '../../../adapters/postgres/deadlines.js';
import { DatabaseUnfit, refuseOldServer, wordsOfRefusal } from '../../../adapters/postgres/fitness.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';

describe('a database that can not be worked with', () => {
  let database: TestDatabase;
  before(async () => (database = await createTestDatabase()));
  after(() => database.drop());

  /** Settings that a pooler in transaction mode takes from a client and does not pass on. */
  const dropped: readonly (readonly [setting: string, drops: RegExp])[] = [
    ['role', /-c role=\S+/],
    ['lock_timeout', /-c lock_timeout=\d+/],
    ['transaction_timeout', /-c transaction_timeout=\d+/],
    ['statement_timeout', /statement_timeout\0\d+\0/],
    ['idle_in_transaction_session_timeout', /idle_in_transaction_session_timeout\0\d+\0/],
    ['application_name', /application_name\0[^\0]+\0/],
  ];
  for (const [setting, drops] of dropped) {
    it(`is refused in words when ${setting} was dropped on the way`, async () => {
      const pooler = await startDropping(Number(new URL(database.url).port), drops);
      const url = new URL(database.url);
      url.port = String((pooler.address() as AddressInfo).port);
      const { worker } = databaseDeadlines;
      const db = openDatabase(url.href, 1, 'test-worker', 'gpu_rental_worker', worker);
      const error: unknown = await db.raw('select 1').catch((failure: unknown) => failure);
      await db.destroy();
      pooler.close();
      assert.ok(error instanceof DatabaseUnfit, String(error));
      assert.match(error.message, new RegExp(`asked for ${setting} = \\S+ and got .*[Cc]onnection pooler`));
      assert.ok(isDatabaseAway(error), 'nothing was sent: callers hear 503');
    });
  }

  it('is not refused where each connection has what it asked for', async () => {
    for (const [name, deadlines] of Object.entries(databaseDeadlines)) {
      const db = openDatabase(database.url, 1, name, 'gpu_rental_api', deadlines);
      await db.raw('select 1');
      await db.destroy();
    }
  });

  it('is refused in words when the server is older than PostgreSQL 17', () => {
    assert.throws(
      () => refuseOldServer(160_009),
      /PostgreSQL 17 or newer is needed, and this server is 16\./,
    );
    for (const version of [170_000, 180_004]) refuseOldServer(version);
    const unknown = Object.assign(new Error('unrecognized configuration parameter "transaction_timeout"'), {
      code: '42704',
    });
    assert.match(String(wordsOfRefusal(unknown)), /PostgreSQL 17 or newer is needed/);
    const pooler = Object.assign(new Error('unsupported startup parameter: options'), { code: '08P01' });
    assert.match(String(wordsOfRefusal(pooler)), /pooler refused the settings/);
    const other = new Error('another');
    assert.equal(wordsOfRefusal(other), other);
  });
});

/** Passes bytes on, but for a part of each connection's first message, which is left out. */
async function startDropping(port: number, drops: RegExp): Promise<Server> {
  const server = createServer((near) => {
    const far = createConnection(port, '127.0.0.1');
    near.once('data', (first: Buffer) => {
      const told = Buffer.from(first.subarray(8).toString('latin1').replace(drops, ''), 'latin1');
      const head = Buffer.from(first.subarray(0, 8));
      head.writeInt32BE(told.length + 8, 0);
      far.write(Buffer.concat([head, told]));
      near.pipe(far);
    });
    far.pipe(near);
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
