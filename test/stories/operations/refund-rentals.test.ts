import assert from 'node:assert/strict';
import { readAffected } from '../../../adapters/postgres/operators/affected-rentals.js';
import { verifyLedger } from '../../../adapters/postgres/wallets/verify.js';
import type { UserId } from '../../../domain/ids.js';
import { taskQueues } from '../../../domain/task-queues.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { getWallet } from '../../support/money/money.js';
import { insertSettled, orderAffected } from '../../support/story/refunding.js';

const MINUTE = 60_000;
const RENTALS = 500;
const USERS = 20;

describe('an order of very many', () => {
  let service: TestService;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  it('is done item by item, each in a transaction of its own, and leaves a short history', async () => {
    const users: UserId[] = [];
    for (let i = 0; i < USERS; i += 1) {
      const { user } = await service.signIn(60 * RENTALS);
      await insertSettled(service.db, await getWallet(service.db, user.id), RENTALS / USERS);
      users.push(user.id);
    }
    const now = Date.now();
    const window = { from: new Date(now - 41 * MINUTE), to: new Date(now - 20 * MINUTE) };
    const ids = (await readAffected(service.db, 'lab', window, RENTALS)).map(({ rentalId }) => rentalId);
    assert.equal(ids.length, RENTALS);
    const operationId = await orderAffected(service.db, window, ids);
    const handle = await service.temporal.workflow.start('operation', {
      ...{ workflowId: operationId, taskQueue: taskQueues.rentals, args: [{ operationId }] },
    });
    assert.deepEqual(await handle.result(), { outcome: 'done' });
    const order = await service.db('operator_orders').where({ id: operationId }).first();
    assert.deepEqual(order?.result, { rentals: RENTALS, refundedCents: 60 * RENTALS });
    const { rows } = await service.db.raw<{ rows: { transactions: number }[] }>(
      'select count(distinct xmin::text) as transactions from operator_order_items where order_id = ?',
      [operationId],
    );
    assert.equal(rows[0]!.transactions, RENTALS);
    const { historyLength } = await handle.describe();
    assert.ok(historyLength < 100, `${historyLength} events`);
    for (const userId of users) {
      assert.equal((await getWallet(service.db, userId)).available_cents, 60 * RENTALS);
    }
    assert.deepEqual(await verifyLedger(service.db), []);
  });
});
