import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { verifyLedger } from '../../../adapters/postgres/wallets/verify.js';
import type { Operation, OperationResult, OperatorAction } from '../../../domain/operations/operation.js';
import type { InvoiceId, OperationId } from '../../../domain/ids.js';
import { tellInvoice } from '../../../money/invoices/invoice-events.js';
import { taskQueues } from '../../../domain/task-queues.js';
import type { OperationOutcome } from '../../../workflows/contracts/operation.js';
import type { SignedIn } from '../../support/http/api.js';
import { Invoicing } from '../../support/story/invoicing.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { getRental, insertRunning } from '../../support/money/money.js';
import { placeOrder } from '../../support/ops/operators.js';

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
    assert.deepEqual(await verifyLedger(service.db), []);
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

  /** Asserts a refusal: its order keeps it, and no action is recorded. */
  async function refused(action: OperatorAction): Promise<string> {
    const id = await placeOrder(service.db, action);
    const outcome = await run(id);
    assert.ok(outcome.outcome === 'refused', JSON.stringify(outcome));
    const order = await orderOf(id);
    assert.deepEqual([order.status, order.code], ['refused', outcome.code]);
    assert.equal(await service.db('operator_actions').where({ id }).first(), undefined);
    return outcome.code;
  }

  describe('by whoever reaches Temporal', () => {
    /** Starts an operation with who, why and how much in its input. */
    async function forge(action: OperatorAction, operationId = newId('op')): Promise<OperationOutcome> {
      const input: Operation = { operationId, operator: 'ada', reason: 'a gift', action };
      return (await service.temporal.workflow.execute('operation', {
        ...{ workflowId: operationId, taskQueue: taskQueues.rentals, args: [input] },
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      })) as OperationOutcome;
    }

    it('moves no cent by an amount in the input', async () => {
      const userId = user.user.id;
      const { id: invoiceId } = await invoicing.open(user, 700);
      const actions: OperatorAction[] = [
        { kind: 'refund', userId, amountCents: 100_000 },
        { kind: 'adjust', userId, amountCents: 100_000 },
        { kind: 'adjust', userId, amountCents: -500 },
        { kind: 'issue_invoice', userId, amountCents: 900, description: 'pay me' },
        { kind: 'void_invoice', invoiceId },
        { kind: 'write_off_invoice', invoiceId },
      ];
      for (const action of actions) {
        const outcome = await forge(action);
        assert.ok(outcome.outcome === 'refused' && outcome.code === 'not_found', action.kind);
      }
      assert.equal((await invoicing.wallet(user)).available_cents, 1_000);
      assert.equal((await invoicing.invoice(invoiceId)).void_requested_at, null);
      assert.equal((await service.db('invoices').where({ user_id: userId })).length, 1);
    });

    it('moves the amount of the order, whatever the input says', async () => {
      const userId = user.user.id;
      const id = await placeOrder(service.db, { kind: 'refund', userId, amountCents: 100 });
      const outcome = await forge({ kind: 'refund', userId, amountCents: 100_000 }, id);
      assert.deepEqual(outcome, { outcome: 'done' });
      assert.equal((await invoicing.wallet(user)).available_cents, 1_100);
    });

    it('gets nothing for the id of no order', async () => {
      assert.deepEqual(
        { ...(await run(newId('op'))), message: '' },
        { outcome: 'refused', code: 'not_found', message: '' },
      );
    });

    it('ends a rental’s machines by no word of its own', async () => {
      const wallet = await invoicing.wallet(user);
      const rentalId = await insertRunning(service.db, wallet, { priceCents: 100, ranMs: 0 });
      const outcome = await forge({ kind: 'terminate_rental', rentalId, acceptGone: true });
      assert.equal(outcome.outcome, 'refused');
      assert.equal((await getRental(service.db, rentalId)).status, 'running');
    });
  });

  it('refunds to the wallet, and tells the user why', async () => {
    const result = await done({ kind: 'refund', userId: user.user.id, amountCents: 250 });
    assert.deepEqual(result, { amountCents: 250, availableCents: 1_250 });
    assert.deepEqual((await invoicing.entries(user)).at(-1), ['refund', 250]);
    assert.deepEqual(await invoicing.mails(user), ['$2.50 was added to your wallet']);
  });

  it('refunds for a rental by naming it, and leaves its price as it was metered', async () => {
    const wallet = await invoicing.wallet(user);
    const rentalId = await insertRunning(service.db, wallet, { priceCents: 100, ranMs: 0 });
    await done({ kind: 'refund', userId: user.user.id, amountCents: 250, rentalId });
    const entry = await service.db('ledger_entries').where({ wallet_id: wallet.id, type: 'refund' }).first();
    assert.deepEqual([entry?.rental_no, entry?.note], [null, `a test; ${rentalId}`]);
    assert.equal((await getRental(service.db, rentalId)).refunded_cents, 0);
    const stranger = (await service.signIn()).user.id;
    assert.equal(
      await refused({ kind: 'refund', userId: stranger, amountCents: 1, rentalId }),
      'rental_not_found',
    );
  });

  it('adjusts up and down, and never below what is available', async () => {
    await done({ kind: 'adjust', userId: user.user.id, amountCents: -1_000 });
    assert.equal((await invoicing.wallet(user)).available_cents, 0);
    assert.equal(
      await refused({ kind: 'adjust', userId: user.user.id, amountCents: -1 }),
      'insufficient_balance',
    );
    await done({ kind: 'adjust', userId: user.user.id, amountCents: 5 });
    assert.deepEqual((await invoicing.entries(user)).slice(1), [
      ['adjustment', -1_000],
      ['adjustment', 5],
    ]);
  });

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
    assert.equal(await refused({ kind: 'void_invoice', invoiceId: id }), 'validation_failed');
  });

  it('writes an open invoice off, through its workflow', async () => {
    const { id } = await invoicing.open(user, 700);
    await done({ kind: 'write_off_invoice', invoiceId: id });
    await invoicing.awaitInvoice(id, 'uncollectible');
    assert.deepEqual(await invoicing.mirrors(id), ['uncollectible']);
  });

  it('blocks the user in the same order as it writes off, where that is asked for', async () => {
    const debtor = await service.signIn(20_000);
    const rent = { familyId: 'rtx-4090', gpuCount: 1 };
    const { id: kept } = await invoicing.open(debtor, 700);
    await done({ kind: 'write_off_invoice', invoiceId: kept });
    await invoicing.awaitInvoice(kept, 'uncollectible');
    const row = () => service.db('users').where({ id: debtor.user.id }).first();
    assert.equal((await row())?.blocked_at, null);
    const { id } = await invoicing.open(debtor, 800);
    const { blocked } = await done({ kind: 'write_off_invoice', invoiceId: id, blockUser: true });
    assert.equal(blocked, debtor.user.id);
    assert.notEqual((await row())?.blocked_at, null);
    assert.equal((await debtor.post('/v1/rentals', rent)).body.error, 'blocked');
  });

  it('does not write off what is being voided', async () => {
    const id = await invoicing.draft(user, 700);
    await service.db.transaction(async (trx) => {
      const [open] = await trx('invoices')
        .where({ id })
        .update({
          ...{ status: 'open', attention_at: null, void_requested_at: new Date(), void_reason: 'a test' },
          ...{ finalized_at: new Date(), due_at: new Date() },
        })
        .returning('*');
      await tellInvoice(trx, 'invoice.opened', open!);
    });
    assert.equal(await refused({ kind: 'write_off_invoice', invoiceId: id }), 'validation_failed');
    assert.equal((await invoicing.invoice(id)).write_off_requested_at, null);
  });

  it('is done once however often it is asked for, at once and later', async () => {
    const id = await placeOrder(service.db, { kind: 'refund', userId: user.user.id, amountCents: 100 });
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => run(id)));
    outcomes.push(await run(id));
    assert.equal(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size, 1);
    assert.equal((await invoicing.wallet(user)).available_cents, 1_100);
    assert.equal((await service.db('operator_actions').where({ id })).length, 1);
  });

  it('refuses amounts that are none, users, invoices and rentals that do not exist', async () => {
    const userId = user.user.id;
    const nobody = newId('usr');
    assert.equal(await refused({ kind: 'refund', userId, amountCents: 0 }), 'invalid_amount');
    assert.equal(await refused({ kind: 'refund', userId, amountCents: -1 }), 'invalid_amount');
    assert.equal(await refused({ kind: 'adjust', userId, amountCents: 0 }), 'invalid_amount');
    assert.equal(
      await refused({ kind: 'issue_invoice', userId, amountCents: 49, description: 'x' }),
      'invalid_amount',
    );
    assert.equal(await refused({ kind: 'adjust', userId: nobody, amountCents: 1 }), 'not_found');
    assert.equal(await refused({ kind: 'void_invoice', invoiceId: newId('inv') }), 'invoice_not_found');
    const rentalId = newId('rent');
    assert.equal(await refused({ kind: 'refund', userId, amountCents: 1, rentalId }), 'rental_not_found');
    assert.equal((await invoicing.wallet(user)).available_cents, 1_000);
  });

  it('refuses to be done for no reason, or without a word for the user', async () => {
    const action: OperatorAction = { kind: 'refund', userId: user.user.id, amountCents: 1 };
    for (const reason of ['', ' ', 'x'.repeat(501)]) {
      await assert.rejects(placeOrder(service.db, action, { reason }), { code: 'validation_failed' });
    }
    assert.equal(
      await refused({ kind: 'issue_invoice', userId: user.user.id, amountCents: 900, description: ' ' }),
      'validation_failed',
    );
    assert.equal((await invoicing.wallet(user)).available_cents, 1_000);
  });

  it('is kept with who and why, and can’t be changed or removed', async () => {
    const action = { kind: 'refund', userId: user.user.id, amountCents: 100 } as const;
    const id = await placeOrder(service.db, action);
    await run(id);
    const actions = service.db('operator_actions').where({ id });
    const row = await actions.clone().first();
    // The tests' service works as the owner, whose login belongs to no operator.
    assert.deepEqual([row?.operator, row?.reason, row?.request], ['ada (gpu_rental)', 'a test', action]);
    await assert.rejects(actions.clone().update({ reason: 'another' }), /never changed/);
    await assert.rejects(actions.clone().delete(), /never changed/);
    // The references to it keep it from being truncated alone; its own trigger keeps all of it.
    await assert.rejects(service.db.raw('truncate operator_actions cascade'), /never changed/);
  });
});
