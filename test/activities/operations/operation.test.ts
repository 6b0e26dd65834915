import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import type { InvoiceRow, WalletRow } from '../../../adapters/postgres/rows/tables.js';
import { verifyLedgerAgain } from '../../support/money/kept-plan.js';
import type { InvoiceId, OperationId, UserId } from '../../../domain/ids.js';
import type { OperationResult, OperatorAction, OrderedAction } from '../../../domain/operations/operation.js';
import { startActivities, type LoneActivities } from '../../support/activities/lone-activities.js';
import { getRental, getWallet, insertRunning, insertWallet } from '../../support/money/money.js';
import { placeOrder } from '../../support/ops/operators.js';

describe('the activity of an operator’s order', () => {
  let lone: LoneActivities;
  let wallet: WalletRow;
  let userId: UserId;
  before(async () => {
    lone = await startActivities();
  });
  beforeEach(async () => {
    wallet = await insertWallet(lone.db, 1_000);
    userId = wallet.user_id;
  });
  after(() => lone.close());
  afterEach(async () => {
    assert.deepEqual(await verifyLedgerAgain(lone.db), [], 'every wallet adds up');
  });

  const run = (operationId: OperationId) => lone.run('operate', { operationId });
  const orderOf = async (id: OperationId) => (await lone.db('operator_orders').where({ id }).first())!;
  const available = async () => (await getWallet(lone.db, userId)).available_cents;

  async function entries(): Promise<[string, number][]> {
    const rows = await lone.db('ledger_entries').where({ wallet_id: wallet.id }).orderBy('seq');
    return rows.slice(1).map(({ type, amount_cents: cents }) => [type, cents]);
  }

  async function invoice(columns: Partial<InvoiceRow> = {}): Promise<InvoiceId> {
    const id = newId('inv');
    await lone.db('invoices').insert({
      ...{ id, user_id: userId, wallet_id: wallet.id, status: 'open', reason: 'manual', amount_cents: 700 },
      ...{ cause: `test:${id}`, processor_invoice_id: `in_${id}`, ...columns },
    });
    return id;
  }
  const invoiceOf = async (id: InvoiceId) => (await lone.db('invoices').where({ id }).first())!;

  async function done(action: OrderedAction): Promise<OperationResult> {
    const id = await placeOrder(lone.db, action);
    const outcome = await run(id);
    const { result, message } = await orderOf(id);
    assert.deepEqual(outcome, { outcome: 'done' }, message ?? '');
    return result!;
  }

  /** Asserts a refusal: its order keeps it, and no action is recorded. */
  async function refused(action: OrderedAction): Promise<string> {
    const id = await placeOrder(lone.db, action);
    const outcome = await run(id);
    assert.ok('code' in outcome, JSON.stringify(outcome));
    const order = await orderOf(id);
    assert.deepEqual([order.status, order.code], ['refused', outcome.code]);
    assert.equal(await lone.db('operator_actions').where({ id }).first(), undefined);
    return outcome.code;
  }

  describe('by whoever reaches Temporal', () => {
    /** Runs an operation with who, why and how much in its input. */
    function forge(action: OperatorAction) {
      const forged = { operationId: newId('op'), operator: 'ada', reason: 'a gift', action };
      return lone.run('operate', forged);
    }

    it('moves no cent and ends no machine by words in the input', async () => {
      const invoiceId = await invoice();
      const rentalId = await insertRunning(lone.db, wallet, { priceCents: 100, ranMs: 0 });
      const before = await available();
      const actions: OperatorAction[] = [
        { kind: 'refund', userId, amountCents: 100_000 },
        { kind: 'adjust', userId, amountCents: 100_000 },
        { kind: 'adjust', userId, amountCents: -500 },
        { kind: 'issue_invoice', userId, amountCents: 900, description: 'pay me' },
        { kind: 'void_invoice', invoiceId },
        { kind: 'write_off_invoice', invoiceId },
        { kind: 'terminate_rental', rentalId, acceptGone: true },
        { kind: 'close_ports', rentalId },
      ];
      for (const action of actions) await assert.rejects(forge(action), { type: 'not_found' }, action.kind);
      assert.equal(await available(), before);
      const { void_requested_at: voided, write_off_requested_at: writtenOff } = await invoiceOf(invoiceId);
      assert.deepEqual([voided, writtenOff], [null, null]);
      assert.equal((await lone.db('invoices').where({ user_id: userId })).length, 1);
      assert.equal((await getRental(lone.db, rentalId)).status, 'running');
    });

    it('gets nothing for the id of no order', async () => {
      await assert.rejects(run(newId('op')), { type: 'not_found' });
    });
  });

  it('refunds to the wallet, and tells the user why', async () => {
    const result = await done({ kind: 'refund', userId, amountCents: 250 });
    assert.deepEqual(result, { amountCents: 250, availableCents: 1_250 });
    assert.deepEqual(await entries(), [['refund', 250]]);
    const user = await lone.db('users').where({ id: userId }).first();
    const mails = await lone.db('mail_outbox').where({ recipient: user!.email });
    assert.deepEqual(
      mails.map(({ subject }) => subject),
      ['We added $2.50 to your wallet'],
    );
  });

  it('refunds for a rental by naming it, and leaves its price as it was metered', async () => {
    const rentalId = await insertRunning(lone.db, wallet, { priceCents: 100, ranMs: 0 });
    await done({ kind: 'refund', userId, amountCents: 250, rentalId });
    const entry = await lone.db('ledger_entries').where({ wallet_id: wallet.id, type: 'refund' }).first();
    assert.deepEqual([entry?.rental_no, entry?.note], [null, `a test; ${rentalId}`]);
    assert.equal((await getRental(lone.db, rentalId)).refunded_cents, 0);
    const { user_id: stranger } = await insertWallet(lone.db, 0);
    const code = await refused({ kind: 'refund', userId: stranger, amountCents: 1, rentalId });
    assert.equal(code, 'rental_not_found');
  });

  it('adjusts up and down, and never below what is available', async () => {
    await done({ kind: 'adjust', userId, amountCents: -1_000 });
    assert.equal(await available(), 0);
    assert.equal(await refused({ kind: 'adjust', userId, amountCents: -1 }), 'insufficient_balance');
    await done({ kind: 'adjust', userId, amountCents: 5 });
    assert.deepEqual(await entries(), [
      ['adjustment', -1_000],
      ['adjustment', 5],
    ]);
  });

  it('asks for an invoice to be void once, and writes off none of these', async () => {
    const invoiceId = await invoice();
    await done({ kind: 'void_invoice', invoiceId });
    assert.notEqual((await invoiceOf(invoiceId)).void_requested_at, null);
    assert.equal(await refused({ kind: 'void_invoice', invoiceId }), 'validation_failed');
    assert.equal(await refused({ kind: 'write_off_invoice', invoiceId }), 'validation_failed');
    assert.equal((await invoiceOf(invoiceId)).write_off_requested_at, null);
  });

  it('writes off an open invoice, and blocks its user where that is asked for', async () => {
    const blockedAt = async () => (await lone.db('users').where({ id: userId }).first())!.blocked_at;
    const kept = await invoice();
    await done({ kind: 'write_off_invoice', invoiceId: kept });
    assert.notEqual((await invoiceOf(kept)).write_off_requested_at, null);
    assert.equal(await blockedAt(), null);
    const { blocked } = await done({
      ...{ kind: 'write_off_invoice', invoiceId: await invoice(), blockUser: true },
    });
    assert.equal(blocked, userId);
    assert.notEqual(await blockedAt(), null);
  });

  it('refuses amounts that are none, users, invoices and rentals that do not exist', async () => {
    const description = 'x';
    const rentalId = newId('rent');
    const refusals: [action: OrderedAction, code: string][] = [
      [{ kind: 'refund', userId, amountCents: 0 }, 'invalid_amount'],
      [{ kind: 'refund', userId, amountCents: -1 }, 'invalid_amount'],
      [{ kind: 'adjust', userId, amountCents: 0 }, 'invalid_amount'],
      [{ kind: 'issue_invoice', userId, amountCents: 49, description }, 'invalid_amount'],
      [{ kind: 'issue_invoice', userId, amountCents: 900, description: ' ' }, 'validation_failed'],
      [{ kind: 'adjust', userId: newId('usr'), amountCents: 1 }, 'not_found'],
      [{ kind: 'void_invoice', invoiceId: newId('inv') }, 'invoice_not_found'],
      [{ kind: 'refund', userId, amountCents: 1, rentalId }, 'rental_not_found'],
    ];
    for (const [action, code] of refusals) assert.equal(await refused(action), code, JSON.stringify(action));
    assert.equal(await available(), 1_000);
  });

  it('is not ordered for no reason', async () => {
    for (const reason of ['', ' ', 'x'.repeat(501)]) {
      const ordering = placeOrder(lone.db, { kind: 'refund', userId, amountCents: 1 }, { reason });
      await assert.rejects(ordering, { code: 'validation_failed' });
    }
  });

  it('is kept with who and why, and can’t be changed or removed', async () => {
    const action = { kind: 'refund', userId, amountCents: 100 } as const;
    const id = await placeOrder(lone.db, action);
    await run(id);
    const actions = lone.db('operator_actions').where({ id });
    const row = await actions.clone().first();
    // The tests' activities work as the owner, whose login belongs to no operator.
    assert.deepEqual([row?.operator, row?.reason, row?.request], ['ada (gpu_rental)', 'a test', action]);
    await assert.rejects(actions.clone().update({ reason: 'another' }), /never changed/);
    await assert.rejects(actions.clone().delete(), /never changed/);
    // The references to it keep it from being truncated alone; its own trigger keeps all of it.
    await assert.rejects(lone.db.raw('truncate operator_actions cascade'), /never changed/);
  });
});
