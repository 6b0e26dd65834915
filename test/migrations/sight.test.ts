import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { lockFigures } from '../../adapters/postgres/figures/locks.js';
import { databaseRoles } from '../../migrations/roles.js';
import { grantSight } from '../../migrations/sight.js';
import { createTestDatabase, type TestDatabase } from '../support/servers/database.js';
import { getPostgres } from '../support/servers/servers.js';

/** The migrations read the whole configuration, and call none of these. */
const unused = {
  TEMPORAL_ADDRESS: '127.0.0.1:1',
  DASHBOARD_URL: 'http://127.0.0.1:1',
  SMTP_URL: 'smtp://127.0.0.1:1',
};

describe('what workers see of the sessions of others', () => {
  let database: TestDatabase;
  let adminUrl: string;
  let worker: Database;
  let other: Database;

  before(async () => {
    database = await createTestDatabase();
    const admin = new URL((await getPostgres()).adminUrl);
    admin.pathname = new URL(database.url).pathname;
    adminUrl = admin.toString();
    worker = openDatabase(database.url, 1, 'sight-worker', databaseRoles.worker);
    // Another login, as a person's session is.
    other = openDatabase(adminUrl, 1, 'sight-other');
    await other.raw('revoke pg_read_all_stats from ??', [databaseRoles.worker]);
  });
  after(async () => {
    await Promise.all([worker.destroy(), other.destroy()]);
    await database.drop();
  });

  /** The figures of a moment in which another login holds a lock on a wallet. */
  async function figures(): Promise<Map<string, number>> {
    const held = await other.transaction();
    try {
      await held.raw('select id from wallets for update');
      const shown = await worker.transaction((trx) => lockFigures.read(trx));
      return new Map(shown.map(({ metric, value }) => [metric, value]));
    } finally {
      await held.rollback();
    }
  }

  it('is nothing where the migration may not grant it, which says what to run, and who looks is told', async () => {
    const env = { ...process.env, DATABASE_URL: database.url, ...unused };
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', 'migrations/run.ts'], {
      env,
    });
    assert.match(
      stdout,
      /^The schema is up to date\.\nThe workers can't see .*WalletLockedForLong.*permission denied.*run: grant pg_read_all_stats to gpu_rental_worker;\n$/,
    );
    const shown = await figures();
    assert.equal(shown.get('oldest_wallet_lock_seconds'), 0);
    assert.ok(shown.get('sessions_unseen')! > 0);
  });

  it('is how long another login holds a wallet, once the migration may grant it', async () => {
    assert.equal(await grantSight(adminUrl), undefined);
    const shown = await figures();
    assert.ok(shown.get('oldest_wallet_lock_seconds')! > 0);
    assert.ok(shown.get('oldest_transaction_seconds')! > 0);
    assert.equal(shown.get('sessions_unseen'), 0);
    // Whoever may not grant it has nothing to say once it is there.
    assert.equal(await grantSight(database.url), undefined);
  });
});
