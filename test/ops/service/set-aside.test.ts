import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { listWorkflowsOf, noteFailure } from '../../../adapters/postgres/upkeep/stuck-items.js';
import { runOps } from '../../support/ops/ops.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';

describe('ops set-aside', () => {
  let database: TestDatabase;
  let db: Database;
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase(database.url, 1, 'test');
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  // Nobody listens at Temporal's address: test/worker/failing-task.test.ts replaces a run.
  const replace = (workflowId: string) =>
    runOps({ databaseUrl: database.url }, 'set-aside', 'replace', workflowId, '--reason', 'frozen', '--yes');

  it('replaces only a run that is known to fail, and writes down who did it', async () => {
    const rental = newId('rent');
    const refused = await replace(rental);
    assert.equal(refused.code, 1);
    assert.match(
      refused.out + refused.err,
      /No failing run of rent_\w+ is set aside: see ops set-aside list/,
    );

    await noteFailure(db, { duty: 'run', item: rental, error: 'it failed 5 times', isHopeless: true });
    const done = await replace(rental);
    assert.equal(done.code, 2, 'it is not replaced');
    assert.match(
      done.err,
      /^It is recorded, but the run was not replaced, .*\)\. Repeat the command with --operation op_\w{26}$/m,
    );
    const [action] = await db('operator_actions').where({ kind: 'replace_run' });
    assert.deepEqual(action?.request, { kind: 'replace_run', workflowId: rental });
    assert.equal((await db('stuck_items').where({ item: rental }).first())?.set_aside_at, null);
  });

  it('lets a retry that could not signal be repeated: what it put back is still listed', async () => {
    const rental = newId('rent');
    const order = newId('op');
    const hopeless = { error: 'it failed', isHopeless: true };
    await noteFailure(db, { duty: 'step', item: `${rental} settleRental`, ...hopeless });
    await noteFailure(db, { duty: 'refund', item: `${order} ${newId('rent')}`, ...hopeless });
    await noteFailure(db, { duty: 'refund', item: `${order} ${newId('rent')}`, ...hopeless });
    await noteFailure(db, { duty: 'mail', item: '7', ...hopeless });
    await noteFailure(db, { duty: 'workflow', item: newId('top'), error: 'it is not set aside' });
    const retry = ['set-aside', 'retry', '--reason', 'mended'];
    const first = await runOps({ databaseUrl: database.url }, ...retry);
    assert.match(first.out, /^Done: items 4/);
    const [, id = ''] = /could not be signalled .* --operation (op_\w{26})$/m.exec(first.err) ?? [];
    assert.deepEqual(await listWorkflowsOf(db, {}), [rental, order]);
    assert.deepEqual(await listWorkflowsOf(db, { duty: 'refund' }), [order]);
    const again = await runOps({ databaseUrl: database.url }, ...retry, '--operation', id);
    assert.deepEqual([again.code, again.out], [0, first.out]);
    assert.match(again.err, /could not be signalled/);
    await noteFailure(db, { duty: 'step', item: `${rental} settleRental`, error: 'it failed again' });
    assert.deepEqual(await listWorkflowsOf(db, {}), [order]);
  });
});
