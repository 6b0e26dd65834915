import assert from 'node:assert/strict';
import { becomeUncollectible } from '../../../money/invoices/invoice-states.js';
import { requestVoid } from '../../../money/invoices/invoice-voids.js';
import type { InvoiceId } from '../../../domain/ids.js';
import type { SignedIn } from '../../support/http/api.js';
import { Invoicing } from '../../support/story/invoicing.js';
import { startService, type TestService } from '../../support/service/living-service.js';
import { until } from '../../support/until.js';

describe('an invoice', () => {
  let service: TestService;
  let invoicing: Invoicing;
  let user: SignedIn;

  before(async () => {
    service = await startService();
    invoicing = new Invoicing(service);
  });
  beforeEach(async () => {
    user = await service.signIn();
  });
  afterEach(async () => {
    await invoicing.clearFaults();
    await invoicing.awaitHandled();
  });
  after(() => service.stop());

  function voidIt(id: InvoiceId): Promise<boolean> {
    return service.db.transaction((trx) => requestVoid(trx, id, 'the test wants it'));
  }

  async function shown(id: InvoiceId) {
    return (await user.get(`/v1/billing/invoices/${id}`)).body as unknown as Record<string, unknown>;
  }

  it('goes through a whole month of dunning: draft, open, four reminders, uncollectible, and paid after all', async () => {
    const dayMs = 250;
    await invoicing.order('faults', { kind: 'html', times: 1, path: '/v1/invoices' });
    const id = await invoicing.draft(user, 1_200);
    assert.equal((await user.get(`/v1/billing/invoices/${id}/pay-url`)).body.url, null);
    await invoicing.start(id, dayMs);
    const open = await invoicing.awaitInvoice(id, 'open');
    assert.equal(open.due_at!.getTime() - open.finalized_at!.getTime(), 7 * dayMs);
    assert.equal((await user.get(`/v1/billing/invoices/${id}/pay-url`)).body.url, open.hosted_invoice_url);

    const given = await invoicing.awaitInvoice(id, 'uncollectible');
    assert.ok(given.closed_at!.getTime() - given.created_at.getTime() >= 30 * dayMs);
    assert.deepEqual(await invoicing.mirrors(id), ['uncollectible']);
    assert.deepEqual(await invoicing.mails(user), [
      'You have an invoice of $12.00',
      'Reminder: your invoice of $12.00 is unpaid',
      'Reminder: your invoice of $12.00 is unpaid',
      'Reminder: your invoice of $12.00 is unpaid',
      'Last reminder: your invoice of $12.00 is unpaid',
    ]);
    await invoicing.awaitClosed(id);

    await invoicing.pay(open.hosted_invoice_url!);
    const paid = await invoicing.awaitInvoice(id, 'paid');
    assert.ok(paid.paid_at && paid.receipt_url);
    assert.deepEqual(await invoicing.entries(user), [], 'a debt that is paid credits nothing');
  });

  it('shows operators what it waits for and until when', async () => {
    const { id } = await invoicing.open(user, 1_200);
    const handle = service.temporal.workflow.getHandle(id);
    const details = await until('it waits', async () => {
      const { currentDetails } = await service.temporal.workflowService
        .queryWorkflow({
          namespace: service.namespace.name,
          execution: { workflowId: handle.workflowId },
          query: { queryType: '__temporal_workflow_metadata' },
        })
        .then(
          ({ queryResult }) =>
            JSON.parse(Buffer.from(queryResult!.payloads![0]!.data!).toString()) as {
              currentDetails: string;
            },
        );
      return currentDetails.includes('Waits for') && currentDetails;
    });
    assert.match(
      details,
      /^open: \$12\.00, manual, for usr_\w+; reminder 1 of 4 comes next\. Waits .* until 20/,
    );
  });

  it('is paid on its page: receiptUrl, paidAt, a mail, and the payment that settled it', async () => {
    const { id, hosted_invoice_url: url } = await invoicing.open(user, 700);
    await invoicing.pay(url!);
    const paid = await invoicing.awaitInvoice(id, 'paid');
    assert.ok(paid.payment_id && paid.receipt_url && paid.paid_at);
    assert.ok((await invoicing.mails(user)).includes('Your invoice of $7.00 is paid'));
    await invoicing.awaitClosed(id);
    assert.deepEqual(
      [(await shown(id))['status'], (await shown(id))['receiptUrl']],
      ['paid', paid.receipt_url],
    );
  });

  it('is found paid by its own look when no event came, and is not reminded of', async () => {
    await invoicing.order('faults', { kind: 'event_drop', times: 1_000 });
    const id = await invoicing.draft(user, 700);
    await invoicing.start(id, 400);
    const { hosted_invoice_url: url } = await invoicing.awaitInvoice(id, 'open');
    await invoicing.pay(url!);
    await invoicing.awaitInvoice(id, 'paid');
    assert.deepEqual(await invoicing.mails(user), [
      'You have an invoice of $7.00',
      'Your invoice of $7.00 is paid',
    ]);
  });

  it('has no receipt when it was paid out of band', async () => {
    const { id, processor_invoice_id: mirror } = await invoicing.open(user, 700);
    await service.stripe.invoices.pay(mirror!, { paid_out_of_band: true });
    const paid = await invoicing.awaitInvoice(id, 'paid');
    assert.deepEqual([paid.receipt_url, paid.payment_id], [null, null]);
  });

  it('opens by itself within seconds, whoever made it', async () => {
    const id = await invoicing.draft(user, 900);
    await invoicing.awaitInvoice(id, 'open');
    assert.deepEqual(await invoicing.mirrors(id), ['open']);
  });

  describe('that is to be void', () => {
    it('is void here when the processor has voided it', async () => {
      const { id } = await invoicing.open(user, 700);
      assert.equal(await voidIt(id), true);
      const row = await invoicing.awaitInvoice(id, 'void');
      assert.ok(row.voided_at);
      assert.deepEqual(await invoicing.mirrors(id), ['void']);
      assert.equal(await voidIt(id), false, 'once');
    });

    it('is void at once while the processor knows nothing of it', async () => {
      const id = await invoicing.draft(user, 700);
      assert.equal(await voidIt(id), true);
      assert.equal((await invoicing.invoice(id)).status, 'void');
      await invoicing.start(id);
      await invoicing.awaitClosed(id);
      assert.deepEqual(await invoicing.mirrors(id), []);
    });

    it('follows the processor, where somebody voided it by hand', async () => {
      const { id, processor_invoice_id: mirror } = await invoicing.open(user, 700);
      await service.stripe.invoices.voidInvoice(mirror!);
      await invoicing.awaitInvoice(id, 'void');
    });

    it('is paid all the same when the payer was faster: a debt is given back, once', async () => {
      const { id, hosted_invoice_url: url } = await invoicing.open(user, 700);
      await invoicing.order('faults', { kind: 'event_drop', times: 10 });
      await invoicing.pay(url!);
      await voidIt(id);
      await invoicing.awaitInvoice(id, 'paid');
      assert.deepEqual(await invoicing.entries(user), [['adjustment', 700]]);
    });

    it('an offer that is paid all the same is credited, once', async () => {
      const { id, hosted_invoice_url: url } = await invoicing.open(user, 2_000, 'topup_failed');
      await invoicing.pay(url!);
      await voidIt(id);
      await invoicing.awaitInvoice(id, 'paid');
      assert.deepEqual(await invoicing.entries(user), [['processor_topup', 2_000]]);
      assert.deepEqual(await invoicing.mails(user), ['Your top-up of $20.00']);
    });
  });

  describe('that is an offer after a failed auto-topup', () => {
    it('is not reminded of, credits the wallet when it is paid, and is no debt', async () => {
      const id = await invoicing.draft(user, 2_000, 'topup_failed');
      await invoicing.start(id, 60_000);
      const { hosted_invoice_url: url } = await invoicing.awaitInvoice(id, 'open');
      assert.equal((await user.get('/v1/billing/balance')).body.openInvoicesCents, 0);
      await invoicing.pay(url!);
      await invoicing.awaitAvailable(user, 2_000);
      const paid = await invoicing.awaitInvoice(id, 'paid');
      const wallet = await invoicing.wallet(user);
      const entry = await service.db('ledger_entries').where({ wallet_id: wallet.id }).first();
      assert.deepEqual([entry?.type, entry?.amount_cents], ['processor_topup', 2_000]);
      assert.ok(entry?.processor_charge_id && paid.receipt_url);
    });

    it('whose payment is refunded is debited, even when its own event never came', async () => {
      const {
        id,
        hosted_invoice_url: url,
        processor_invoice_id: mirror,
      } = await invoicing.open(user, 2_000, 'topup_failed');
      await invoicing.order('faults', { kind: 'event_drop', times: 100, type: 'invoice.paid' });
      await invoicing.order('faults', { kind: 'event_drop', times: 100, type: 'invoice.payment_succeeded' });
      await invoicing.pay(url!);
      const { payments } = await service.stripe.invoices.retrieve(mirror!, { expand: ['payments'] });
      const payment = payments!.data.find(({ status }) => status === 'paid')!;
      await service.stripe.refunds.create({ payment_intent: payment.payment.payment_intent as string });
      await until('it is debited', async () => (await invoicing.entries(user)).length === 2);
      assert.deepEqual(await invoicing.entries(user), [
        ['processor_topup', 2_000],
        ['adjustment', -2_000],
      ]);
      assert.equal((await invoicing.invoice(id)).status, 'paid');
    });
  });

  describe('that is a debt', () => {
    it('blocks new rentals once it is due, until it is paid; one that was given up blocks nothing', async () => {
      const rich = await service.signIn(100_000);
      const { id, hosted_invoice_url: url } = await invoicing.open(rich, 700);
      const rent = { familyId: 'rtx-4090', gpuCount: 1 };
      await service
        .db('invoices')
        .where({ id })
        .update({ due_at: new Date(Date.now() - 1_000) });
      const refused = await rich.post('/v1/rentals', rent);
      assert.deepEqual([refused.status, refused.body.error], [403, 'blocked']);
      await invoicing.pay(url!);
      await invoicing.awaitInvoice(id, 'paid');
      assert.equal((await rich.post('/v1/rentals', rent)).status, 200);

      const { id: old } = await invoicing.open(rich, 800);
      await service
        .db('invoices')
        .where({ id: old })
        .update({ due_at: new Date(Date.now() - 1_000) });
      assert.equal((await rich.post('/v1/rentals', rent)).body.error, 'blocked');
      await becomeUncollectible(service.db, old);
      assert.equal((await rich.post('/v1/rentals', rent)).status, 200);
    });
  });
});
