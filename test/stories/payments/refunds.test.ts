import assert from 'node:assert/strict';
import { newId } from '../../../adapters/ids.js';
import { actDirectly } from '../../../adapters/postgres/operators/direct-actions.js';
import { post } from '../../../money/ledger/post.js';
import { lockWalletOfUser } from '../../../money/ledger/wallets.js';
import { settleInvoice } from '../../../money/payments/settle-invoice.js';
import { recordAction } from '../../../adapters/postgres/operators/operator-actions.js';
import { Invoicing } from '../../support/story/invoicing.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { Paying } from '../../support/story/paying.js';
import { Reversing, sums } from '../../support/story/reversing.js';
import { until } from '../../support/until.js';

describe('a refund', () => {
  let service: TestService;
  let paying: Paying;
  let reversing: Reversing;
  /** Payments that no wallet is credited with. */
  const notOurs: string[] = [];

  before(async () => {
    service = await startService();
    paying = new Paying(service);
  });
  beforeEach(async () => {
    reversing = new Reversing(service, paying, await service.signIn());
  });
  afterEach(async () => {
    await paying.clearFaults();
    await paying.awaitHandled();
    await paying.assertAddsUp(notOurs);
  });
  after(() => service.stop());

  it('leaves the wallet as an adjustment, and the user is mailed', async () => {
    const { paymentId } = await reversing.paid(1_000);
    const refund = await service.stripe.refunds.create({ payment_intent: paymentId });
    const closed = await reversing.awaitRow(refund.id, 'closed_at');
    assert.deepEqual([closed.status, sums(closed)], ['succeeded', [1_000, 0, 0]]);
    assert.deepEqual(await paying.entries(reversing.user), [
      ['processor_topup', 1_000],
      ['adjustment', -1_000],
    ]);
    assert.ok((await paying.mails(reversing.user)).includes('Your payment was refunded'));
    assert.deepEqual(await service.temporal.workflow.getHandle(refund.id).result(), {
      outcome: 'succeeded',
    });
  });

  it('takes parts as they come, each once', async () => {
    const { paymentId } = await reversing.paid(1_000);
    const first = await service.stripe.refunds.create({ payment_intent: paymentId, amount: 300 });
    const second = await service.stripe.refunds.create({ payment_intent: paymentId, amount: 200 });
    await reversing.awaitRow(first.id, 'closed_at');
    await reversing.awaitRow(second.id, 'closed_at');
    await paying.awaitHandled();
    assert.equal((await paying.wallet(reversing.user)).available_cents, 500);
  });

  it('invoices what is missing, and writes off what is below the smallest charge', async () => {
    const { paymentId } = await reversing.paid(1_000);
    await reversing.spend(900);
    const first = await service.stripe.refunds.create({ payment_intent: paymentId, amount: 600 });
    assert.deepEqual(sums(await reversing.awaitRow(first.id, 'closed_at')), [100, 500, 0]);
    assert.deepEqual(await reversing.invoices(), [['manual', 500, 'draft']]);
    const second = await service.stripe.refunds.create({ payment_intent: paymentId, amount: 49 });
    assert.deepEqual(sums(await reversing.awaitRow(second.id, 'closed_at')), [0, 0, 49]);
    assert.equal((await reversing.invoices()).length, 1);
  });

  it('gives back what it took when it fails: the debit, and the invoice by voiding it', async () => {
    const { paymentId } = await reversing.paid(1_000);
    await reversing.spend(800);
    const refund = await service.stripe.refunds.create({ payment_intent: paymentId });
    assert.deepEqual(sums(await reversing.awaitRow(refund.id, 'taken_at')), [200, 800, 0]);
    await paying.order(`refunds/${refund.id}/fail`);
    await reversing.awaitRow(refund.id, 'given_back_at');
    assert.equal((await paying.wallet(reversing.user)).available_cents, 200);
    await reversing.awaitInvoices([['manual', 800, 'void']]);
    assert.ok((await paying.mails(reversing.user)).includes('Your payment was not refunded'));
  });

  it('that fails credits what was paid on its invoice', async () => {
    const { paymentId } = await reversing.paid(1_000);
    await reversing.spend(1_000);
    const refund = await service.stripe.refunds.create({ payment_intent: paymentId });
    await reversing.awaitRow(refund.id, 'taken_at');
    const invoice = await service.db('invoices').where({ user_id: reversing.user.user.id }).first();
    await settleInvoice(service.db, invoice!.id, { payment: null, paidAt: new Date() });
    await paying.order(`refunds/${refund.id}/fail`);
    await reversing.awaitRow(refund.id, 'given_back_at');
    assert.equal((await paying.wallet(reversing.user)).available_cents, 1_000);
  });

  it('that fails before it was ever heard of moves nothing', async () => {
    const { paymentId } = await reversing.paid(1_000, 'pm_card_refundFail');
    await paying.order('faults', { kind: 'event_drop', type: 'refund.created' });
    await paying.order('faults', { kind: 'event_drop', type: 'charge.refunded' });
    const refund = await service.stripe.refunds.create({ payment_intent: paymentId });
    assert.deepEqual(sums(await reversing.awaitRow(refund.id, 'given_back_at')), [0, 0, 0]);
    await paying.awaitHandled();
    assert.equal((await paying.wallet(reversing.user)).available_cents, 1_000);
  });

  it('that waits for its bank is taken at once, and its workflow waits', async () => {
    const { paymentId } = await reversing.paid(1_000, 'pm_card_pendingRefund');
    const refund = await service.stripe.refunds.create({ payment_intent: paymentId });
    const taken = await reversing.awaitRow(refund.id, 'taken_at');
    assert.deepEqual([taken.status, taken.closed_at], ['pending', null]);
    await paying.order(`refunds/${refund.id}/succeed`);
    await reversing.awaitRow(refund.id, 'closed_at');
    assert.equal((await paying.wallet(reversing.user)).available_cents, 0);
  });

  it('is found by its charge when its own events never come', async () => {
    const { paymentId, chargeId } = await reversing.paid(1_000);
    for (const type of ['refund.created', 'refund.updated']) {
      await paying.order('faults', { kind: 'event_drop', type });
    }
    const refund = await service.stripe.refunds.create({ payment_intent: paymentId });
    await reversing.awaitRow(refund.id, 'closed_at');
    const event = await service.db('processor_events').where({ workflow_id: chargeId }).first();
    assert.equal(event!.kind, 'charge.refunded');
  });

  it('that comes before its payment was credited credits the payment first', async () => {
    const { url, topupId } = await paying.page(reversing.user, 1_000);
    for (const type of ['checkout.session.completed', 'payment_intent.succeeded']) {
      await paying.order('faults', { kind: 'event_drop', type });
    }
    await paying.pay(url);
    const { payment_intents: intents } = await paying.state();
    const intent = intents.find(({ metadata }) => metadata['topup_id'] === topupId)!;
    const refund = await service.stripe.refunds.create({ payment_intent: intent.id, amount: 400 });
    await reversing.awaitRow(refund.id, 'closed_at');
    assert.deepEqual(await paying.entries(reversing.user), [
      ['processor_topup', 1_000],
      ['adjustment', -400],
    ]);
    assert.equal((await paying.topup(topupId)).status, 'succeeded');
  });

  it('of the payment of a debt makes it owed again', async () => {
    await reversing.paid(1_000);
    const invoicing = new Invoicing(service);
    const debt = await invoicing.open(reversing.user, 700);
    await paying.pay(debt.hosted_invoice_url!);
    const { payment_id: paymentId } = await invoicing.awaitInvoice(debt.id, 'paid');
    const refund = await service.stripe.refunds.create({ payment_intent: paymentId! });
    assert.deepEqual(sums(await reversing.awaitRow(refund.id, 'closed_at')), [0, 700, 0]);
    assert.equal((await paying.wallet(reversing.user)).available_cents, 1_000);
    notOurs.push(paymentId!);
  });

  it('of the payment of a debt is taken although the mirror of another invoice is gone', async () => {
    const invoicing = new Invoicing(service);
    const debt = await invoicing.open(reversing.user, 700);
    await paying.pay(debt.hosted_invoice_url!);
    const { payment_id: paymentId } = await invoicing.awaitInvoice(debt.id, 'paid');
    // The invoice's draft was deleted in the processor's dashboard.
    const lost = await invoicing.draft(reversing.user, 900, 'manual', { attention_at: null });
    await service
      .db('invoices')
      .where({ id: lost })
      .update({ processor_invoice_id: `in_${lost}` });
    const refund = await service.stripe.refunds.create({ payment_intent: paymentId! });
    assert.deepEqual(sums(await reversing.awaitRow(refund.id, 'closed_at')), [0, 700, 0]);
    notOurs.push(paymentId!);
  });

  /** A payment by the user's own customer that this service does not know. Nobody is credited with it. */
  async function unknownPayment(amount: number, metadata: Record<string, string> = {}): Promise<string> {
    const { chargeId } = await reversing.paid(1_000);
    const customer = (await service.stripe.charges.retrieve(chargeId)).customer as string;
    const { id } = await service.stripe.paymentIntents.create({
      ...{ amount, currency: 'usd', customer, payment_method: (await paying.card(reversing.user))! },
      ...{ payment_method_types: ['card'], confirm: true, off_session: true, metadata },
    });
    notOurs.push(id);
    return id;
  }

  it('of a payment that never credited the wallet costs nothing', async () => {
    const paymentId = await unknownPayment(700);
    const refund = await service.stripe.refunds.create({ payment_intent: paymentId });
    assert.deepEqual(sums(await reversing.awaitRow(refund.id, 'closed_at')), [0, 0, 0]);
    assert.deepEqual(await reversing.invoices(), []);
    assert.equal((await paying.wallet(reversing.user)).available_cents, 1_000);
  });

  describe('of a payment that is parked', () => {
    /** A payment that names another user's top-up: nobody can be credited. */
    async function parkedPayment(): Promise<string> {
      const { topupId } = await paying.page(await service.signIn(), 700);
      const id = await unknownPayment(700, { topup_id: topupId, user_id: reversing.user.user.id });
      await until('it is parked', () => service.db('parked_payments').where({ payment_id: id }).first());
      return id;
    }

    it('costs nothing, as our own runbook orders it', async () => {
      const paymentId = await parkedPayment();
      const refund = await service.stripe.refunds.create({ payment_intent: paymentId });
      assert.deepEqual(sums(await reversing.awaitRow(refund.id, 'closed_at')), [0, 0, 0]);
      assert.deepEqual(await reversing.invoices(), []);
      assert.equal((await paying.wallet(reversing.user)).available_cents, 1_000);
    });

    it('and was credited by hand takes what it brought', async () => {
      const paymentId = await parkedPayment();
      const operationId = newId('op');
      await service.db.transaction(async (trx) => {
        const wallet = await lockWalletOfUser(trx, reversing.user.user.id);
        const cause = { kind: 'operation', operationId } as const;
        await post(trx, wallet, { type: 'adjustment', availableCents: 700, cause });
        const action = { kind: 'adjust' as const, userId: wallet.userId, amountCents: 700 };
        await recordAction(trx, { operationId, operator: 'ada', reason: 'it is hers', action }, {});
      });
      await actDirectly(service.db, {
        ...{ operationId: newId('op'), operator: 'ada', reason: 'credited' },
        action: { kind: 'resolve_parked', paymentId, creditedBy: operationId },
      });
      const refund = await service.stripe.refunds.create({ payment_intent: paymentId });
      assert.deepEqual(sums(await reversing.awaitRow(refund.id, 'closed_at')), [700, 0, 0]);
      assert.equal((await paying.wallet(reversing.user)).available_cents, 1_000);
    });
  });

  it('of a stranger’s payment is nothing of ours', async () => {
    const customer = await service.stripe.customers.create({ email: 'stranger@example.com' });
    const method = await service.stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    const intent = await service.stripe.paymentIntents.create({
      ...{ amount: 700, currency: 'usd', customer: customer.id, payment_method: method.id },
      ...{ payment_method_types: ['card'], confirm: true },
    });
    const refund = await service.stripe.refunds.create({ payment_intent: intent.id });
    await paying.awaitHandled();
    assert.equal(await reversing.row(refund.id), undefined);
    notOurs.push(intent.id);
  });
});
