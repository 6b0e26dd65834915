import assert from 'node:assert/strict';
import { newId } from '../../adapters/ids.js';
import { verifyLedger } from '../../adapters/postgres/verify.js';
import type { Operation, OperatorAction } from '../../domain/operation.js';
import type { InvoiceId } from '../../domain/ids.js';
import { taskQueues } from '../../domain/task-queues.js';
import type { OperationOutcome } from '../../workflows/operation-contract.js';
import type { SignedIn } from '../support/api.js';
import { Invoicing } from '../support/invoicing.js';
import { startService, type TestService } from '../support/living-service.js';
import { getRental, insertRunning } from '../support/money.js';

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

  function asked(action: OperatorAction): Operation {
    return { operationId: newId('op'), operator: 'ada', reason: 'a test', action };
  }

  async function run(operation: Operation): Promise<OperationOutcome> {
    const handle = await service.temporal.workflow.start('operation', {
      workflowId: operation.operationId,
      taskQueue: taskQueues.rentals,
      args: [operation],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    return (await handle.result()) as OperationOutcome;
  }

  async function done(action: OperatorAction): Promise<Record<string, string | number>> {
    const outcome = await run(asked(action));
    assert.ok(outcome.outcome === 'done', JSON.stringify(outcome));
    return outcome.result;
  }

  async function refused(action: OperatorAction): Promise<string> {
    const operation = asked(action);
    const outcome = await run(operation);
    assert.ok(outcome.outcome === 'refused', JSON.stringify(outcome));
    assert.equal(
      await service.db('operator_actions').where({ id: operation.operationId }).first(),
      undefined,
    );
    return outcome.code;
  }

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

  it('does not write off what is being voided', async () => {
    const id = await invoicing.draft(user, 700);
    await service
      .db('invoices')
      .where({ id })
      .update({
        ...{ status: 'open', attention_at: null, void_requested_at: new Date(), void_reason: 'a test' },
      });
    assert.equal(await refused({ kind: 'write_off_invoice', invoiceId: id }), 'validation_failed');
    assert.equal((await invoicing.invoice(id)).write_off_requested_at, null);
  });

  it('is done once however often it is asked for, at once and later', async () => {
    const operation = asked({ kind: 'refund', userId: user.user.id, amountCents: 100 });
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => run(operation)));
    outcomes.push(await run(operation));
    assert.equal(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size, 1);
    assert.equal((await invoicing.wallet(user)).available_cents, 1_100);
    assert.equal((await service.db('operator_actions').where({ id: operation.operationId })).length, 1);
  });

  it('refuses another request under an id that was used', async () => {
    const operation = asked({ kind: 'refund', userId: user.user.id, amountCents: 100 });
    await run(operation);
    const other = await run({
      ...operation,
      action: { ...operation.action, amountCents: 200 } as OperatorAction,
    });
    assert.ok(other.outcome === 'refused' && other.code === 'idempotency_conflict');
    assert.equal((await invoicing.wallet(user)).available_cents, 1_100);
  });

  it('refuses amounts that are none, users, invoices and rentals that do not exist', async () => {
    const userId = user.user.id;
    const nobody = newId('usr');
    assert.equal(await refused({ kind: 'refund', userId, amountCents: 0 }), 'invalid_amount');
    assert.equal(await refused({ kind: 'refund', userId, amountCents: 1.5 }), 'invalid_amount');
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

  it('refuses to be done by nobody, for no reason, or without a word for the user', async () => {
    const action: OperatorAction = { kind: 'refund', userId: user.user.id, amountCents: 1 };
    for (const blank of [{ operator: ' ' }, { reason: '' }, { reason: 'x'.repeat(501) }]) {
      const outcome = await run({ ...asked(action), ...blank });
      assert.ok(outcome.outcome === 'refused' && outcome.code === 'validation_failed');
    }
    assert.equal(
      await refused({ kind: 'issue_invoice', userId: user.user.id, amountCents: 900, description: ' ' }),
      'validation_failed',
    );
    assert.equal((await invoicing.wallet(user)).available_cents, 1_000);
  });

  it('is kept with who and why, and can’t be changed or removed', async () => {
    const operation = asked({ kind: 'refund', userId: user.user.id, amountCents: 100 });
    await run(operation);
    const actions = service.db('operator_actions').where({ id: operation.operationId });
    const row = await actions.clone().first();
    assert.deepEqual([row?.operator, row?.reason, row?.request], ['ada', 'a test', operation.action]);
    await assert.rejects(actions.clone().update({ reason: 'another' }), /never changed/);
    await assert.rejects(actions.clone().delete(), /never changed/);
    await assert.rejects(service.db('operator_actions').truncate(), /never changed/);
  });
});
