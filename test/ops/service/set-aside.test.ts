import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { noteFailure } from '../../../adapters/postgres/upkeep/stuck-items.js';
import { runOps } from '../../support/ops/ops.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';

describe('ops set-aside replace', () => {
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
    assert.equal(done.code, 0);
    assert.match(done.err, /could not be signalled/);
    const [action] = await db('operator_actions').where({ kind: 'replace_run' });
    assert.deepEqual(action?.request, { kind: 'replace_run', workflowId: rental });
    assert.equal((await db('stuck_items').where({ item: rental }).first())?.set_aside_at, null);
  });
});
