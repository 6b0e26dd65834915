import assert from 'node:assert/strict';
import { verifyLedger } from '../../../adapters/postgres/ledger/verify.js';
import { taskQueues } from '../../../domain/task-queues.js';
import type { KilledWorker } from '../../support/service/killed-worker.js';
import type { TestService } from '../../support/service/living-service.js';
import { isAsleep } from '../../support/servers/sleepers.js';
import { placeOrder } from '../../support/ops/operators.js';
import { Paying } from '../../support/story/paying.js';
import { until } from '../../support/until.js';

export function describeOperation(world: KilledWorker): void {
  describe('a worker that is killed while an operation by hand is committed', () => {
    let service: TestService;

    before(() => {
      ({ service } = world);
    });

    /** Makes every commit of an operation take this long: time enough to kill the worker that waits for it. */
    async function slowCommits(seconds: number): Promise<void> {
      await service.db.raw(`create function wait_at_commit() returns trigger language plpgsql as
        $$ begin perform pg_sleep(${seconds}); return null; end $$`);
      await service.db.raw(`create constraint trigger wait_at_commit after insert on operator_actions
        deferrable initially deferred for each row execute function wait_at_commit()`);
    }

    it('is followed by another one that answers with what was done, and does nothing twice', async () => {
      const paying = new Paying(service);
      const user = await service.signIn(1_000);
      const operationId = await placeOrder(service.db, {
        ...{ kind: 'refund', userId: user.user.id, amountCents: 250 },
      });
      await slowCommits(3);
      const handle = await service.temporal.workflow.start('operation', {
        ...{ workflowId: operationId, taskQueue: taskQueues.rentals, args: [{ operationId }] },
      });
      await until('it is being committed', () => isAsleep(service.db, 'commit'));
      await world.kill();
      await until(
        'it is committed',
        async () => (await service.db('operator_actions').where({ id: operationId }).first()) !== undefined,
      );
      await service.db.raw('drop trigger wait_at_commit on operator_actions');
      assert.equal((await handle.describe()).status.name, 'RUNNING');

      await world.startWorker();
      assert.deepEqual(await handle.result(), { outcome: 'done' });
      const order = await service.db('operator_orders').where({ id: operationId }).first();
      assert.deepEqual(order?.result, { amountCents: 250, availableCents: 1_250 });
      assert.deepEqual(await paying.entries(user), [
        ['processor_topup', 1_000],
        ['refund', 250],
      ]);
      assert.deepEqual(await paying.mails(user), ['We added $2.50 to your wallet']);
      assert.deepEqual(await verifyLedger(service.db), []);
    });
  });
}
