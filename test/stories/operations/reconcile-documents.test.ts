import assert from 'node:assert/strict';
import type { SignedIn } from '../../support/http/api.js';
import { Invoicing } from '../../support/story/invoicing.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { runBackfill } from '../../support/service/upkeep-round.js';
import { Reconciling } from '../../support/story/reconciling.js';
import { until } from '../../support/until.js';
import { onlyWaits } from '../../support/workflows/only-waits.js';

describe('reconcile: refunds, disputes and invoices', () => {
  let service: TestService;
  let paying: Invoicing;
  let reconciling: Reconciling;
  let user: SignedIn;

  before(async () => {
    service = await startService();
    paying = new Invoicing(service);
    reconciling = new Reconciling(service);
    user = await service.signIn();
    await paying.saveCard(user);
  });
  afterEach(async () => {
    await paying.clearFaults();
    await paying.liftMarks();
  });
  after(() => service.stop());

  async function charged(cents: number): Promise<{ paymentId: string; chargeId: string }> {
    const topup = await paying.topup((await paying.checkout(user, cents)).body.topupId);
    return { paymentId: topup.payment_id!, chargeId: topup.charge_id! };
  }

  const row = (id: string) => service.db('refunds_and_disputes').where({ id }).first();

  async function taken(id: string): Promise<string> {
    await until(`${id} was taken`, async () => ((await row(id))?.taken_at ?? null) !== null);
    await paying.awaitHandled();
    return id;
  }

  const dropEvents = () => paying.order('faults', { kind: 'event_drop', times: 1_000 });

  async function awaitOpened(invoice: { id: string; processor_invoice_id: string | null }): Promise<void> {
    await until('the event of its opening is here', async () =>
      service
        .db('processor_events')
        .where({ kind: 'invoice.finalized' })
        .whereRaw(`object ->> 'id' = ?`, [invoice.processor_invoice_id ?? ''])
        .whereNotNull('handled_at')
        .first('id'),
    );
    await paying.awaitHandled();
    const handle = service.temporal.workflow.getHandle(invoice.id);
    await until('its workflow only waits', async () => onlyWaits(await handle.describe()));
  }

  /** Reads the processor's events that were missed. */
  async function backfill(): Promise<void> {
    await paying.clearFaults();
    await runBackfill(service);
    await paying.awaitHandled();
  }

  it('finds a refund and a dispute that were never taken from the wallet', async () => {
    const [first, second] = [await charged(1_000), await charged(1_100)];
    await dropEvents();
    const refund = await service.stripe.refunds.create({ payment_intent: first.paymentId, amount: 300 });
    const dispute = String((await paying.order(`charges/${second.chargeId}/dispute`))['id']);
    await reconciling.assertFinds([
      ['reversal_missing', refund.id],
      ['reversal_missing', dispute],
    ]);
    await backfill();
    await reconciling.assertFinds([]);
  });

  it('finds a refund that came back there and not here', async () => {
    const { paymentId } = await charged(1_000);
    const { id } = await service.stripe.refunds.create({ payment_intent: paymentId, amount: 400 });
    await taken(id);
    await dropEvents();
    await paying.order(`refunds/${id}/fail`);
    await reconciling.assertFinds([['reversal_not_returned', id]]);
    await backfill();
    await until('it was given back', async () => ((await row(id))?.given_back_at ?? null) !== null);
    await reconciling.assertFinds([]);
  });

  it('finds a row that its entries, or the processor, contradict', async () => {
    const { paymentId } = await charged(1_000);
    const { id } = await service.stripe.refunds.create({ payment_intent: paymentId, amount: 500 });
    await taken(id);
    await service.db('refunds_and_disputes').where({ id }).update({ debited_cents: 499 });
    await reconciling.assertFinds([['reversal_amount_differs', id]]);
    await service.db('refunds_and_disputes').where({ id }).update({ debited_cents: 500 });
    await reconciling.assertFinds([]);
    await service.db('refunds_and_disputes').where({ id }).update({ amount_cents: 501 });
    await reconciling.assertFinds([['reversal_amount_differs', id]]);
    await service.db('refunds_and_disputes').where({ id }).update({ amount_cents: 500 });
  });

  it('finds a row of a refund that the processor does not know', async () => {
    const { id: walletId } = await paying.wallet(user);
    await service.db('refunds_and_disputes').insert({
      ...{ id: 're_none', kind: 'refund', payment_id: 'pi_none', user_id: user.user.id, wallet_id: walletId },
      ...{ amount_cents: 100, status: 'succeeded', closed_at: new Date() },
    });
    await reconciling.assertFinds([['reversal_without_document', 're_none']]);
    await service.db('refunds_and_disputes').where({ id: 're_none' }).delete();
    await reconciling.assertFinds([]);
  });

  it('finds an invoice that is paid there and open here', async () => {
    const invoice = await paying.open(user, 700);
    // Otherwise an event of the opening wakes its workflow, which then sees the payment by itself.
    await awaitOpened(invoice);
    await dropEvents();
    await paying.pay(invoice.hosted_invoice_url ?? '');
    const mirror = await service.stripe.invoices.retrieve(invoice.processor_invoice_id!);
    assert.equal(mirror.status, 'paid');
    await reconciling.run();
    assert.deepEqual(await reconciling.gaps(), []);
    const standing = await reconciling.standing();
    assert.deepEqual(standing.map(([kind]) => kind).sort(), [
      'charge_without_entry',
      'invoice_state_differs',
    ]);
    const { subject, evidence, subject_ids: ids } = await reconciling.finding('invoice_state_differs');
    assert.equal(subject, mirror.id);
    assert.equal(ids['invoiceId'], invoice.id);
    assert.equal((evidence['processor'] as { status: string }).status, 'paid');
    assert.equal((evidence['ours'] as { status: string }).status, 'open');
    await backfill();
    await paying.awaitInvoice(invoice.id, 'paid');
    await reconciling.assertFinds([]);
  });

  it('finds one that was voided there by hand, months after it was made', async () => {
    const invoice = await paying.open(user, 710);
    await awaitOpened(invoice);
    await dropEvents();
    await service.stripe.invoices.voidInvoice(invoice.processor_invoice_id!);
    // No window reaches back to it. It is compared because it is open here.
    await service
      .db('reconcile_sources')
      .where({ source: 'invoices' })
      .update({
        compared_until: service.db.raw(`clock_ms() + interval '1 day'`),
      });
    await reconciling.assertFinds([['invoice_state_differs', invoice.processor_invoice_id!]]);
    await backfill();
    await paying.awaitInvoice(invoice.id, 'void');
    await reconciling.assertFinds([]);
  });

  it('finds an invoice about another amount, and one whose mirror is not ours', async () => {
    const invoice = await paying.open(user, 720);
    const mirror = invoice.processor_invoice_id!;
    await service.db('invoices').where({ id: invoice.id }).update({ amount_cents: 721 });
    await reconciling.assertFinds([['invoice_amount_differs', mirror]]);
    await service
      .db('invoices')
      .where({ id: invoice.id })
      .update({ amount_cents: 720, processor_invoice_id: 'in_none' });
    await reconciling.assertFinds([
      ['invoice_missing_there', 'in_none'],
      ['invoice_unknown_here', mirror],
    ]);
    await service.db('invoices').where({ id: invoice.id }).update({ processor_invoice_id: mirror });
    await reconciling.assertFinds([]);
  });

  it('finds an invoice that was never mirrored', async () => {
    const id = await paying.draft(user, 730, 'manual', { attention_at: null });
    await reconciling.assertFinds([['invoice_missing_there', id]]);
    await paying.start(id);
    await paying.awaitInvoice(id, 'open');
    await reconciling.assertFinds([]);
  });
});
