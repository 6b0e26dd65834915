import assert from 'node:assert/strict';
import { runOps } from '../../support/ops/ops.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import { createTestNamespace, type TestNamespace } from '../../support/servers/namespace.js';

describe('ops reconcile where no worker runs', () => {
  let database: TestDatabase;
  let namespace: TestNamespace;
  before(async () => {
    [database, namespace] = await Promise.all([createTestDatabase(), createTestNamespace()]);
  });
  after(async () => {
    await Promise.all([database.drop(), namespace.close()]);
  });

  it('waits for a bounded time, and says what to look at', async () => {
    const { code, out, err } = await runOps(
      { databaseUrl: database.url, namespace, waitMs: 1_000 },
      'reconcile',
    );
    assert.deepEqual([code, out], [2, '']);
    const [, id = ''] = /^Workflow (reconcile-by-hand-op_\w{26}): a worker compares/.exec(err) ?? [];
    assert.match(
      err,
      new RegExp(`^It is not done after 1 seconds, .*${id} in the Temporal UI .*no worker runs`, 'm'),
    );
    const { status } = await namespace.client.workflow.getHandle(id).describe();
    assert.equal(status.name, 'RUNNING');
  });
});
