import assert from 'node:assert/strict';
import { openMoneyDatabase, type MoneyDatabase } from '../../support/money/money.js';
import { runOps, type OpsResult } from '../../support/ops/ops.js';

describe('ops database', () => {
  let database: MoneyDatabase;
  before(async () => {
    database = await openMoneyDatabase();
  });
  after(() => database.close());

  const ops = (...args: string[]): Promise<OpsResult> => runOps({ databaseUrl: database.url }, ...args);

  it('names what a disposable server may do and one with money may not, and exits with 1', async () => {
    const { out, code } = await ops('database');
    assert.equal(code, 1);
    assert.deepEqual(
      out.split('\n').flatMap((line) => /^(\w+: \w+ is \w+):/.exec(line)?.[1] ?? []),
      ['unsafe: fsync is off', 'unsafe: full_page_writes is off', 'unsafe: synchronous_commit is off'],
    );
  });

  it('tells each value that it read', async () => {
    const { out } = await ops('database', 'check', '--json');
    const { runningRentals, settings } = JSON.parse(out) as { runningRentals: number; settings: object };
    assert.equal(runningRentals, 0);
    assert.deepEqual(settings, {
      ...{ fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' },
      ...{ autovacuum: 'on', track_counts: 'on' },
      ...{ sharedBuffersBytes: 134_217_728, maxWalBytes: 1_073_741_824, checkpointTimeoutS: 300 },
      autovacuumCostLimit: 200,
    });
  });

  it('tells the settings for a machine without asking a database', async () => {
    const { out, code } = await ops(
      ...['database', 'size', '--memory-gb', '64', '--free-gb', '500', '--cores', '16'],
    );
    assert.equal(code, 0);
    assert.match(out, /^shared_buffers = 8192MB$/m);
    assert.match(out, /^max_wal_size = 16384MB$/m);
    assert.equal((await ops('database', 'size', '--memory-gb', 'much', '--free-gb', '1')).code, 2);
  });
});
