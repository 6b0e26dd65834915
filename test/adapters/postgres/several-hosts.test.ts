import assert from 'node:assert/strict';
import { hostsOf, primaryOf } from '../../../adapters/postgres/address.js';
import { isDatabaseAway } from '../../../adapters/postgres/availability.js';
import { openDatabase } from '../../../adapters/postgres/database.js';
import { ConfigError, readConfig } from '../../../config.js';
import { findFreePorts } from '../../../lab/stack/ports.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';

describe('the address of PostgreSQL', () => {
  let database: TestDatabase;
  before(async () => (database = await createTestDatabase()));
  after(() => database.drop());

  async function withDeadHost(place: 'first' | 'last'): Promise<string> {
    const [dead] = await findFreePorts(1);
    const { host } = new URL(database.url);
    const gone = `127.0.0.1:${dead}`;
    return database.url.replace(host, place === 'first' ? `${gone},${host}` : `${host},${gone}`);
  }

  for (const place of ['first', 'last'] as const) {
    it(`leads to the host that takes writes when the ${place} one is gone`, async () => {
      const db = openDatabase(await withDeadHost(place), 2, 'test-hosts');
      try {
        await Promise.all([1, 2, 3].map(() => db.transaction((trx) => trx.raw('lock table watermark'))));
      } finally {
        await db.destroy();
      }
      const { connectionString } = await primaryOf(await withDeadHost(place));
      assert.equal(connectionString, database.url);
    });
  }

  it('says that the database is away when no host answers', async () => {
    const ports = await findFreePorts(2);
    const url = database.url.replace(
      new URL(database.url).host,
      ports.map((port) => `127.0.0.1:${port}`).join(),
    );
    const db = openDatabase(url, 1, 'test-hosts');
    const error: unknown = await db.raw('select 1').catch((failure: unknown) => failure);
    await db.destroy();
    assert.ok(isDatabaseAway(error), String(error));
    await assert.rejects(primaryOf(url), { code: 'ECONNREFUSED' });
  });

  it('has the encryption that hosts’ pages mean', () => {
    const of = (parameters: string): object =>
      hostsOf(`postgres://u:p%40@db.example.com:5432,other.example.com/gpu?${parameters}`)[1] ?? {};
    const connectionString = 'postgres://u:p%40@other.example.com/gpu';
    assert.deepEqual(of('target_session_attrs=read-write'), { connectionString });
    assert.deepEqual(of('sslmode=disable'), { connectionString });
    assert.deepEqual(of('sslmode=require&channel_binding=require'), {
      connectionString: `${connectionString}?channel_binding=require`,
      ssl: { rejectUnauthorized: false },
    });
    assert.deepEqual(of('sslmode=verify-full'), { connectionString, ssl: {} });
    assert.deepEqual(of('sslmode=verify-full&sslrootcert=system'), { connectionString, ssl: {} });
    const { ssl } = of('sslmode=verify-ca') as { ssl: { checkServerIdentity: unknown } };
    assert.equal(typeof ssl.checkServerIdentity, 'function', 'its name is not asked, who signed it is');
  });

  for (const [url, words] of [
    ['postgres://u:p@a,,b/gpu', /DATABASE_URL.* has an empty host/],
    ['postgres://u:p@a/gpu?sslmode=verify', /DATABASE_URL.* has sslmode=verify; it may be disable, /],
    ['postgres://u:p@a:5432:1,b/gpu', /DATABASE_URL.* must be postgres:/],
    ['mysql://a/gpu', /DATABASE_URL.* must be postgres:/],
  ] as const) {
    it(`is refused by name when it is ${url}`, () => {
      assert.throws(
        () => readConfig({ DATABASE_URL: url }),
        (error) => error instanceof ConfigError && words.test(error.message),
      );
    });
  }
});
