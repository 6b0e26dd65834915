import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import pg from 'pg';
import { findConnectionFault } from '../../../lab/servers/postgres.js';
import { findTemporalFault, registerSearchAttributes } from '../../../lab/servers/temporal.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import { getPostgres, getTemporal } from '../../support/servers/servers.js';

describe('the embedded PostgreSQL', () => {
  let database: TestDatabase;

  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const query = async (sql: string): Promise<unknown[]> => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  };

  it('is version 18, sorts alike everywhere, and takes 200 connections', async () => {
    const [row] = await query(
      `select current_setting('server_version_num')::int / 10000 as major, current_setting('max_connections') as most,
        (select datlocprovider::text || ' ' || datlocale from pg_database where datname = current_database()) as locale`,
    );
    assert.deepEqual(row, { major: 18, most: '200', locale: 'b C.UTF-8' });
  });

  it('gives the product a role that is no superuser', async () => {
    assert.deepEqual(await query('select usename, usesuper from pg_user where usename = current_user'), [
      { usename: 'gpu_rental', usesuper: false },
    ]);
  });

  it('listens on loopback only', async () => {
    const server = await getPostgres();
    assert.equal(new URL(server.url).hostname, '127.0.0.1');
    assert.deepEqual(await query('show listen_addresses'), [{ listen_addresses: '127.0.0.1' }]);
  });

  it('refuses a wrong password', async () => {
    const url = new URL(database.url);
    url.password = 'wrong';
    assert.match((await findConnectionFault(url.toString())) ?? '', /password authentication failed/);
  });

  it('gives each test file a migrated database of its own', async () => {
    const [row] = await query(
      "select count(*)::int as wallets from information_schema.tables where table_name = 'wallets'",
    );
    assert.deepEqual(row, { wallets: 1 });
    const other = await createTestDatabase();
    assert.notEqual(other.url, database.url);
    await other.drop();
    assert.match((await findConnectionFault(other.url)) ?? '', /does not exist/);
  });
});

describe('the Temporal dev server', () => {
  it('serves its namespace', async () => {
    const { address } = await getTemporal();
    assert.equal(await findTemporalFault({ address, namespace: 'default' }), undefined);
    assert.notEqual(await findTemporalFault({ address, namespace: 'no-such-namespace' }), undefined);
  });

  it('knows the search attributes of the product', async () => {
    const { address } = await getTemporal();
    const connection = await Connection.connect({ address });
    const { customAttributes } = await connection.operatorService.listSearchAttributes({
      namespace: 'default',
    });
    await connection.close();
    assert.equal(customAttributes['UserId'], 2);
  });

  it('takes a new attribute, the same one again, and refuses it under another type', async () => {
    const place = { address: (await getTemporal()).address, namespace: 'default' };
    const name = `Test${randomUUID().replaceAll('-', '')}`;
    await registerSearchAttributes(place, [{ name, type: 'INT' }]);
    await registerSearchAttributes(place, [{ name, type: 'INT' }]);
    await assert.rejects(
      registerSearchAttributes(place, [{ name, type: 'BOOL' }]),
      /of another type than Bool/,
    );
  });
});
