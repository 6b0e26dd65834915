import assert from 'node:assert/strict';
import type { InvoiceInput } from '../../../adapters/processor/processor.js';
import { cards, payPage, startWorkbench, type Workbench } from '../../lab/processor/workbench.js';
import { failureOf } from './calls.js';

describe('the Stripe adapter’s invoices', () => {
  let bench: Workbench;
  let made = 0;
  before(async () => {
    bench = await startWorkbench();
  });
  after(() => bench.stop());
  afterEach(() => fetch(`${bench.lab.url}/lab/faults`, { method: 'DELETE' }));

  async function inputOf(): Promise<InvoiceInput> {
    made += 1;
    const { customerId } = await bench.processor.createCustomer({
      userId: 'usr_1',
      email: 'one@example.com',
    });
    return {
      ...{ invoiceId: `inv_${made}`, userId: 'usr_1', customerId, daysUntilDue: 7 },
      lines: [
        { lineId: `li_${made}a`, description: 'Usage', amountCents: 700 },
        { lineId: `li_${made}b`, description: 'More usage', amountCents: 300 },
      ],
    };
  }

  async function open() {
    const { processorInvoiceId } = await bench.processor.createInvoice(await inputOf());
    return bench.processor.finalizeInvoice(processorInvoiceId);
  }

  it('are drafts with their lines at first, and have no pages', async () => {
    const input = await inputOf();
    const draft = await bench.processor.createInvoice(input);
    assert.deepEqual(
      [draft.status, draft.totalCents, draft.hostedInvoiceUrl, draft.invoiceId, draft.customerId],
      ['draft', 1_000, null, input.invoiceId, input.customerId],
    );
    const { auto_advance, collection_method } = await bench.stripe.invoices.retrieve(
      draft.processorInvoiceId,
    );
    assert.deepEqual([auto_advance, collection_method], [false, 'send_invoice']);
  });

  for (const path of ['/v1/invoices', '/v1/invoiceitems']) {
    it(`are made once with the same lines when answers of ${path} are lost`, async () => {
      const input = await inputOf();
      await fetch(`${bench.lab.url}/lab/faults`, {
        method: 'POST',
        body: new URLSearchParams({ kind: 'lost', times: '1', method: 'POST', path }),
      });
      // Whoever repeats it, the SDK by itself or the workflow: it is the same request.
      await bench.processor.createInvoice(input).catch(() => undefined);
      const draft = await bench.processor.createInvoice(input);
      assert.equal(draft.totalCents, 1_000);
      const { data } = await bench.stripe.invoices.list({ customer: input.customerId });
      assert.equal(data.filter(({ metadata }) => metadata?.['invoice_id'] === input.invoiceId).length, 1);
    });
  }

  it('are found by our own id, and only by it', async () => {
    const input = await inputOf();
    const createdFrom = new Date(Date.now() - 60_000);
    const { customerId, invoiceId } = input;
    assert.equal(await bench.processor.findInvoice({ customerId, invoiceId, createdFrom }), null);
    const draft = await bench.processor.createInvoice(input);
    assert.deepEqual(await bench.processor.findInvoice({ customerId, invoiceId, createdFrom }), draft);
  });

  it('open once, and a repetition tells how they are now', async () => {
    const input = await inputOf();
    const { processorInvoiceId } = await bench.processor.createInvoice(input);
    const opened = await bench.processor.finalizeInvoice(processorInvoiceId);
    assert.equal(opened.status, 'open');
    assert.ok(opened.hostedInvoiceUrl !== null && opened.invoicePdfUrl !== null);
    assert.deepEqual(await bench.processor.createInvoice(input), opened);
    await payPage(opened.hostedInvoiceUrl, cards.good);
    const paid = await bench.processor.finalizeInvoice(processorInvoiceId);
    assert.ok(['open', 'paid'].includes(paid.status), 'the first answer may be repeated');
    assert.equal((await bench.processor.getInvoice(processorInvoiceId)).status, 'paid');
  });

  it('name the payment that settled them', async () => {
    const { processorInvoiceId, hostedInvoiceUrl } = await open();
    await payPage(hostedInvoiceUrl ?? '', cards.good);
    const paid = await bench.processor.getInvoice(processorInvoiceId);
    assert.deepEqual([paid.status, paid.amountPaidCents, paid.currency], ['paid', 1_000, 'usd']);
    assert.ok(paid.paidAt instanceof Date);
    const payment = await bench.processor.getPayment(paid.paymentId ?? '');
    assert.deepEqual([payment.status, payment.amountReceivedCents], ['succeeded', 1_000]);
    assert.ok(payment.receiptUrl);
  });

  it('have no payment when they were paid out of band', async () => {
    const { processorInvoiceId } = await open();
    await bench.stripe.invoices.pay(processorInvoiceId, { paid_out_of_band: true });
    const paid = await bench.processor.getInvoice(processorInvoiceId);
    assert.deepEqual([paid.status, paid.paymentId], ['paid', null]);
  });

  it('are void once; one that is paid stays paid', async () => {
    const { processorInvoiceId } = await open();
    for (let turn = 0; turn < 2; turn += 1) {
      assert.equal((await bench.processor.voidInvoice(processorInvoiceId)).status, 'void');
    }
    const other = await open();
    await payPage(other.hostedInvoiceUrl ?? '', cards.good);
    assert.equal((await bench.processor.voidInvoice(other.processorInvoiceId)).status, 'paid');
  });

  it('are deleted as drafts, which is void too, however often', async () => {
    const { processorInvoiceId } = await bench.processor.createInvoice(await inputOf());
    for (let turn = 0; turn < 2; turn += 1) {
      assert.equal((await bench.processor.voidInvoice(processorInvoiceId)).status, 'void');
    }
    assert.equal((await failureOf(bench.processor.getInvoice(processorInvoiceId))).kind, 'refused');
  });

  it('can be paid after they were written off, and not be written off after they were paid', async () => {
    const { processorInvoiceId, hostedInvoiceUrl } = await open();
    assert.equal((await bench.processor.writeOffInvoice(processorInvoiceId)).status, 'uncollectible');
    await payPage(hostedInvoiceUrl ?? '', cards.good);
    assert.equal((await bench.processor.getInvoice(processorInvoiceId)).status, 'paid');
    const other = await open();
    await payPage(other.hostedInvoiceUrl ?? '', cards.good);
    assert.equal((await bench.processor.writeOffInvoice(other.processorInvoiceId)).status, 'paid');
  });
});
