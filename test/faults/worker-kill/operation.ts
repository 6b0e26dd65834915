import assert from 'node:assert/strict';
import { verifyLedger } from '../../../adapters/postgres/ledger/verify.js';
import { taskQueues } from '../../../domain/task-queues.js';
import type { KilledWorker } from '../../support/service/killed-worker.js';
import type { TestService } from '../../support/service/living-service.js';
import { Gate } from '../../support/servers/gate.js';
import { placeOrder } from '../../support/ops/operators.js';
import { Paying } from '../../support/story/paying.js';
import { until } from '../../support/until.js';

export function describeOperation(world: KilledWorker): void {
  describe('a worker that is killed while an operation by hand is committed', () => {
    let service: TestService;

    before(() => {
      ({ service } = world);
    });

    it('is followed by another one that answers with what was done, and does nothing twice', async () => {
      const paying = new Paying(service);
      const user = await service.signIn(1_000);
      const operationId = await placeOrder(service.db, {
        ...{ kind: 'refund', userId: user.user.id, amountCents: 250 },
      });
      const gate = await Gate.close(service.db, { at: 'commit', of: 'insert', table: 'operator_actions' });
      const handle = await service.temporal.workflow.start('operation', {
        ...{ workflowId: operationId, taskQueue: taskQueues.rentals, args: [{ operationId }] },
      });
      await until('it is being committed', () => gate.isReached());
      await world.kill();
      await gate.open();
      await until(
        'it is committed',
        async () => (await service.db('operator_actions').where({ id: operationId }).first()) !== undefined,
      );
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
