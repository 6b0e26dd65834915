import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { readAffected } from '../../../adapters/postgres/operators/affected-rentals.js';
import { confirmDatabase, readWatermark } from '../../../adapters/postgres/restore/watermark.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import type { OperationResult, OperatorAction } from '../../../domain/operations/operation.js';
import type { InvoiceId, OperationId, UserId } from '../../../domain/ids.js';
import { readKeptWatermark, signalWatermark } from '../../../adapters/temporal/watermark.js';
import { taskQueues } from '../../../domain/task-queues.js';
import type { OperationOutcome } from '../../../workflows/contracts/operation.js';
import type { RestoreOutcome } from '../../../workflows/contracts/restore.js';
import type { SignedIn } from '../../support/http/api.js';
import { Invoicing } from '../../support/story/invoicing.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { getWallet } from '../../support/money/money.js';
import { placeOrder } from '../../support/ops/operators.js';
import { until } from '../../support/until.js';
import { insertSettled, orderAffected } from '../../support/story/refunding.js';

const MINUTE = 60_000;
/** Their refunds stay, with the other orders of these tests, below what one operator may move alone in a day. */
const RENTALS = 300;
const USERS = 20;

describe('an operation by hand', () => {
  let service: TestService;
  let invoicing: Invoicing;
  let user: SignedIn;

  before(async () => {
    service = await startService();
    invoicing = new Invoicing(service);
  });
  beforeEach(async () => {
    user = await service.signIn(1_000);
  });
  afterEach(async () => {
    await invoicing.awaitHandled();
    assert.deepEqual(await verifyLedgerAgain(service.db), []);
  });
  after(() => service.stop());

  async function run(operationId: OperationId): Promise<OperationOutcome> {
    const handle = await service.temporal.workflow.start('operation', {
      workflowId: operationId,
      taskQueue: taskQueues.rentals,
      args: [{ operationId }],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    return (await handle.result()) as OperationOutcome;
  }

  const orderOf = async (id: OperationId) => (await service.db('operator_orders').where({ id }).first())!;

  async function done(action: OperatorAction): Promise<OperationResult> {
    const id = await placeOrder(service.db, action);
    const outcome = await run(id);
    const { result, message } = await orderOf(id);
    assert.deepEqual(outcome, { outcome: 'done' }, message ?? '');
    return result!;
  }

  it('issues an invoice, which opens by itself, and voids it', async () => {
    const userId = user.user.id;
    const { invoiceId } = await done({
      ...{ kind: 'issue_invoice', userId, amountCents: 900, description: 'A wire that came short' },
    });
    const id = invoiceId as InvoiceId;
    await invoicing.awaitInvoice(id, 'open');
    await done({ kind: 'void_invoice', invoiceId: id });
    await invoicing.awaitInvoice(id, 'void');
    assert.deepEqual(await invoicing.mirrors(id), ['void']);
  });

  it('writes an open invoice off, through its workflow, and blocks the user where that is asked for', async () => {
    const debtor = await service.signIn(20_000);
    const rent = { familyId: 'rtx-4090', gpuCount: 1 };
    const { id: kept } = await invoicing.open(debtor, 700);
    await done({ kind: 'write_off_invoice', invoiceId: kept });
    await invoicing.awaitInvoice(kept, 'uncollectible');
    assert.deepEqual(await invoicing.mirrors(kept), ['uncollectible']);
    const row = () => service.db('users').where({ id: debtor.user.id }).first();
    assert.equal((await row())?.blocked_at, null);
    const { id } = await invoicing.open(debtor, 800);
    const { blocked } = await done({ kind: 'write_off_invoice', invoiceId: id, blockUser: true });
    assert.equal(blocked, debtor.user.id);
    assert.notEqual((await row())?.blocked_at, null);
    assert.equal((await debtor.post('/v1/rentals', rent)).body.error, 'blocked');
  });

  it('moves the amount of the order, whatever somebody else’s input says, and then once', async () => {
    const action = { kind: 'refund', userId: user.user.id, amountCents: 100 } as const;
    const operationId = await placeOrder(service.db, action);
    const forged = { operator: 'ada', reason: 'a gift', action: { ...action, amountCents: 100_000 } };
    for (let times = 0; times < 2; times += 1) {
      const outcome: unknown = await service.temporal.workflow.execute('operation', {
        ...{ workflowId: operationId, taskQueue: taskQueues.rentals, args: [{ operationId, ...forged }] },
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      });
      assert.deepEqual(outcome, { outcome: 'done' });
    }
    assert.equal((await invoicing.wallet(user)).available_cents, 1_100);
  });

  it('for very many rentals is done item by item, each in a transaction of its own, and leaves a short history', async () => {
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
  });

  // This test comes last and has a block of its own: it leaves the database behind Temporal's watermark, and mends it.
  describe('restore', () => {
    it('lets no restored database go on that no operator has ordered to', async () => {
      const { value } = await readWatermark(service.db);
      const { workflow } = service.temporal;
      await signalWatermark(workflow, value + 60);
      await until('it is shown', async () => (await readKeptWatermark(workflow)) === value + 60);
      assert.equal(await confirmDatabase(service.db, value + 60), 'restored');
      const reconcile = async (operationId: OperationId): Promise<RestoreOutcome> =>
        (await workflow.execute('restore', {
          ...{ workflowId: operationId, taskQueue: taskQueues.rentals },
          args: [{ reconcile: { operationId, operator: 'ada', reason: 'x', withoutSilentUpstreams: true } }],
        })) as RestoreOutcome;
      const forged = await reconcile(newId('op'));
      assert.deepEqual(
        [forged.outcome, (forged.message ?? '').includes('There is no order op_')],
        ['refused', true],
      );
      const [brake] = await service.db('brakes');
      assert.equal(brake?.kind, 'restored');
      const action = { kind: 'reconcile_restored', withoutSilentUpstreams: false } as const;
      assert.equal((await reconcile(await placeOrder(service.db, action))).outcome, 'reconciled');
      assert.deepEqual(await service.db('brakes'), []);
    });
  });
});
