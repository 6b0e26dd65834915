import assert from 'node:assert/strict';
import { readProgress } from '../../../adapters/postgres/operators/order-items.js';
import { verifyLedger } from '../../../adapters/postgres/ledger/verify.js';
import type { RentalId } from '../../../domain/ids.js';
import { taskQueues } from '../../../domain/task-queues.js';
import type { KilledWorker } from '../../support/service/killed-worker.js';
import type { TestService } from '../../support/service/living-service.js';
import { Gate } from '../../support/servers/gate.js';
import { getRental } from '../../support/money/money.js';
import { Paying } from '../../support/story/paying.js';
import { orderAffected } from '../../support/story/refunding.js';
import { ToldLedger } from '../../support/money/told-ledger.js';
import { until } from '../../support/until.js';

const MINUTE = 60_000;

export function describeRefunds(world: KilledWorker): void {
  describe('a worker that is killed while an order of many is carried out', () => {
    let service: TestService;

    before(() => {
      ({ service } = world);
    });

    /** Stops this item's transaction at one point. */
    async function standStill(id: RentalId, at: 'write' | 'commit'): Promise<Gate> {
      const { no } = await getRental(service.db, id);
      const when = `new.rental_no = ${no}`;
      return Gate.close(service.db, { at, of: 'update', table: 'operator_order_items', when });
    }

    it('is followed by another one: before, between and after a commit, each rental is refunded once', async () => {
      const paying = new Paying(service);
      const user = await service.signIn(10_000);
      const told = new ToldLedger(service.db, user.user.id);
      const ids: RentalId[] = [];
      for (let i = 0; i < 6; i += 1) {
        ids.push(await told.runMachine(30 * MINUTE));
        await told.stopMachine(ids[i]!);
      }
      const window = { from: new Date(Date.now() - 20 * MINUTE), to: new Date(Date.now() - 10 * MINUTE) };
      const operationId = await orderAffected(service.db, window, ids);
      const done = async (): Promise<number> => (await readProgress(service.db, operationId)).done;

      const third = await standStill(ids[2]!, 'write');
      const handle = await service.temporal.workflow.start('operation', {
        ...{ workflowId: operationId, taskQueue: taskQueues.rentals, args: [{ operationId }] },
      });
      await until('the third item has begun', () => third.isReached());
      assert.equal(await done(), 2, 'between two items');
      await world.kill();
      await third.open();

      const fifth = await standStill(ids[4]!, 'commit');
      await world.startWorker();
      await until('the fifth item is being committed', () => fifth.isReached());
      await world.kill();
      await fifth.open();
      await until('it is committed', async () => (await done()) === 5);
      assert.equal((await handle.describe()).status.name, 'RUNNING');

      await world.startWorker();
      assert.deepEqual(await handle.result(), { outcome: 'done' });
      const order = await service.db('operator_orders').where({ id: operationId }).first();
      assert.deepEqual(order?.result, { rentals: 6, refundedCents: 360 });
      const refunds = (await paying.entries(user)).filter(([type]) => type === 'refund');
      assert.deepEqual(
        refunds,
        Array.from({ length: 6 }, () => ['refund', 60]),
      );
      assert.deepEqual(await paying.mails(user), ['We added $3.60 to your wallet']);
      assert.deepEqual(await verifyLedger(service.db), []);
    });
  });
}
