import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { knexClientOf, type Connection } from '../../../adapters/postgres/knex-inside.js';
import { PostgresClient } from '../../../adapters/postgres/watched-client.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/servers/database.js';
import { until } from '../../support/until.js';

describe('what knex has inside', () => {
  let database: TestDatabase;
  let db: Database;
  before(async () => {
    database = await createEmptyDatabase();
    db = openDatabase(database.url, 2, 'inside-test');
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  async function withConnection<Found>(work: (connection: Connection) => Promise<Found>): Promise<Found> {
    const connection = await knexClientOf(db).acquireConnection();
    try {
      return await work(connection);
    } finally {
      await knexClientOf(db).releaseConnection(connection);
    }
  }

  it('gives out connections of the driver, which tell of transactions and have a stream', async () => {
    await withConnection(async (connection) => {
      assert.ok(connection.connection.stream instanceof Duplex);
      const { response } = await knexClientOf(db).query(connection, {
        sql: 'select ?::int as n',
        bindings: [7],
      });
      assert.deepEqual(response.rows, [{ n: 7 }]);
      assert.equal(connection.getTransactionStatus(), 'I');
      await connection.query('begin');
      assert.equal(connection.getTransactionStatus(), 'T');
      await connection.query('rollback');
      assert.equal(connection.__knex__disposed, undefined);
    });
  });

  it('counts its connections', async () => {
    const { pool } = knexClientOf(db);
    await withConnection(() => {
      assert.deepEqual([pool.max, pool.numUsed(), pool.numPendingAcquires()], [2, 1, 0]);
      return Promise.resolve();
    });
    assert.deepEqual([pool.numUsed(), pool.numFree()], [0, 1]);
  });

  it('marks a connection that has ended', async () => {
    await withConnection(async (connection) => {
      const { rows } = await connection.query('select pg_backend_pid() as pid');
      await db.raw('select pg_terminate_backend(?)', [Number(rows[0]?.['pid'])]);
      await until('it is marked', () => connection.__knex__disposed !== undefined);
    });
  });

  it('has a dialect whose steps can be overridden, and which reads its settings as it connects', () => {
    const steps = ['query', 'acquireRawConnection', 'validateConnection', 'destroyRawConnection'];
    const prototype = PostgresClient.prototype as unknown as Record<string, unknown>;
    assert.deepEqual(
      steps.filter((step) => typeof prototype[step] !== 'function'),
      [],
    );
    const { connectionSettings } = knexClientOf(db) as unknown as { connectionSettings?: object };
    assert.equal(typeof connectionSettings, 'object');
  });
});
