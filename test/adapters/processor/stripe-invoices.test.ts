import assert from 'node:assert/strict';
import type { InvoiceInput, Processor, ProcessorInvoice } from '../../../adapters/processor/processor.js';
import { createStripeProcessor } from '../../../adapters/processor/stripe.js';
import {
  cards,
  payPage,
  secretKey,
  startWorkbench,
  until,
  type Workbench,
} from '../../lab/processor/workbench.js';
import { failureOf } from './calls.js';

describe('the Stripe adapter’s invoices', () => {
  let bench: Workbench;
  /** A processor with a short limit, for answers that never come. */
  let impatient: Processor;
  let made = 0;
  before(async () => {
    bench = await startWorkbench();
    impatient = createStripeProcessor({ secretKey, apiUrl: bench.lab.url, timeoutMs: 300 });
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

  async function faultsLeft() {
    return ((await (await fetch(`${bench.lab.url}/lab/faults`)).json()) as unknown[]).length;
  }

  const linesWanted = [
    ['More usage', 300],
    ['Usage', 700],
  ];

  async function linesOf({ processorInvoiceId }: ProcessorInvoice) {
    const { lines } = await bench.stripe.invoices.retrieve(processorInvoiceId);
    return lines.data.map(({ description, amount }) => [description, amount]).sort();
  }

  async function mirrorsOf({ customerId, invoiceId }: InvoiceInput) {
    const { data } = await bench.stripe.invoices.list({ customer: customerId, limit: 100 });
    return data.filter(({ metadata }) => metadata?.['invoice_id'] === invoiceId).map(({ id }) => id);
  }

  it('are drafts with their lines at first, and have no pages', async () => {
    const input = await inputOf();
    const draft = await bench.processor.createInvoice(input);
    assert.deepEqual(
      [draft.status, draft.totalCents, draft.hostedInvoiceUrl, draft.invoiceId, draft.customerId],
      ['draft', 1_000, null, input.invoiceId, input.customerId],
    );
    const { auto_advance, collection_method, metadata } = await bench.stripe.invoices.retrieve(
      draft.processorInvoiceId,
    );
    assert.deepEqual([auto_advance, collection_method], [false, 'send_invoice']);
    assert.deepEqual(metadata, { invoice_id: input.invoiceId, user_id: 'usr_1' });
    assert.deepEqual(await linesOf(draft), linesWanted);
  });

  for (const path of ['/v1/invoices', '/v1/invoiceitems']) {
    it(`are made once with the same lines when answers of ${path} are lost`, async () => {
      const input = await inputOf();
      await bench.order({ kind: 'lost', silent: true, method: 'POST', path });
      assert.equal((await failureOf(impatient.createInvoice(input))).kind, 'unknown');
      const draft = await bench.processor.createInvoice(input);
      assert.deepEqual(await mirrorsOf(input), [draft.processorInvoiceId]);
      assert.deepEqual(await linesOf(draft), linesWanted);
    });
  }

  it('are made once with the same lines when a crash came between two lines', async () => {
    const input = await inputOf();
    const cut = await bench.processor.createInvoice({ ...input, lines: input.lines.slice(0, 1) });
    assert.equal(cut.totalCents, 700);
    for (let turn = 0; turn < 2; turn += 1) {
      const draft = await bench.processor.createInvoice(input);
      assert.deepEqual([draft.processorInvoiceId, draft.totalCents], [cut.processorInvoiceId, 1_000]);
      assert.deepEqual(await linesOf(draft), linesWanted);
    }
  });

  it('take none of the customer’s other items', async () => {
    const input = await inputOf();
    await bench.stripe.invoiceItems.create({ customer: input.customerId, amount: 5_000, currency: 'usd' });
    const draft = await bench.processor.createInvoice(input);
    assert.deepEqual(await linesOf(draft), linesWanted);
  });

  it('are found by our own id, and only by it', async () => {
    const input = await inputOf();
    const createdFrom = new Date(Date.now() - 60_000);
    const { customerId, invoiceId } = input;
    assert.equal(await bench.processor.findInvoice({ customerId, invoiceId, createdFrom }), null);
    const draft = await bench.processor.createInvoice(input);
    await bench.processor.createInvoice({ ...(await inputOf()), customerId });
    const found = await bench.processor.findInvoice({ customerId, invoiceId, createdFrom });
    const { createdAt = createdFrom, ...mirror } = found ?? {};
    assert.deepEqual(mirror, draft);
    assert.ok(createdAt > createdFrom && createdAt <= new Date());
    const later = { customerId, invoiceId, createdFrom: new Date(Date.now() + 60_000) };
    assert.equal(await bench.processor.findInvoice(later), null);
  });

  it('open once, and a repetition tells how they are now', async () => {
    const input = await inputOf();
    const { processorInvoiceId } = await bench.processor.createInvoice(input);
    const opened = await bench.processor.finalizeInvoice(processorInvoiceId);
    assert.equal(opened.status, 'open');
    assert.ok(opened.hostedInvoiceUrl !== null && opened.invoicePdfUrl !== null);
    assert.deepEqual(await bench.processor.createInvoice(input), opened);
    await payPage(opened.hostedInvoiceUrl, cards.good);
    assert.equal((await bench.processor.finalizeInvoice(processorInvoiceId)).status, 'paid');
  });

  it('are answered as they are when somebody else opened or paid them first', async () => {
    const { processorInvoiceId } = await bench.processor.createInvoice(await inputOf());
    await bench.stripe.invoices.finalizeInvoice(processorInvoiceId);
    assert.equal((await bench.processor.finalizeInvoice(processorInvoiceId)).status, 'open');
    const other = await bench.processor.createInvoice(await inputOf());
    await bench.stripe.invoices.pay(other.processorInvoiceId, { paid_out_of_band: true });
    assert.equal((await bench.processor.finalizeInvoice(other.processorInvoiceId)).status, 'paid');
  });

  it('are refused, and not taken for opened, when they can’t be opened', async () => {
    const input = await inputOf();
    const lines = [{ lineId: `${input.invoiceId}_small`, description: 'Usage', amountCents: 49 }];
    const { processorInvoiceId } = await bench.processor.createInvoice({ ...input, lines });
    const { kind, details } = await failureOf(bench.processor.finalizeInvoice(processorInvoiceId));
    assert.deepEqual([kind, details.code], ['refused', 'amount_too_small']);
    assert.equal((await failureOf(bench.processor.writeOffInvoice(processorInvoiceId))).kind, 'refused');
    assert.equal((await failureOf(bench.processor.finalizeInvoice('in_none'))).kind, 'refused');
  });

  for (const [call, path, status] of [
    ['finalizeInvoice', 'finalize', 'open'],
    ['voidInvoice', 'void', 'void'],
    ['writeOffInvoice', 'mark_uncollectible', 'uncollectible'],
  ] as const) {
    it(`come to ${status} once when the answers of ${call} are lost`, async () => {
      const draft = await bench.processor.createInvoice(await inputOf());
      const id = draft.processorInvoiceId;
      if (call !== 'finalizeInvoice') await bench.processor.finalizeInvoice(id);
      await bench.order({ kind: 'lost', silent: true, method: 'POST', path: `/v1/invoices/${id}/${path}` });
      assert.equal((await failureOf(impatient[call](id))).kind, 'unknown');
      assert.equal((await bench.processor[call](id)).status, status);
      const { events } = await bench.state();
      const wanted = { open: 'finalized', void: 'voided', uncollectible: 'marked_uncollectible' }[status];
      const told = events.filter(({ type, data }) => {
        return type === `invoice.${wanted}` && (data.object as { id?: string }).id === id;
      });
      assert.equal(told.length, 1);
    });
  }

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
    assert.ok(paid.paidAt instanceof Date);
  });

  it('are moved by the next attempt although the processor keeps the failure of the one before', async () => {
    const invoice = await open();
    const path = `/v1/invoices/${invoice.processorInvoiceId}/void`;
    await bench.order({ kind: 'status', status: 500, sticky: true, path });
    const failure = await failureOf(impatient.voidInvoice(invoice.processorInvoiceId));
    assert.equal(failure.kind, 'unknown');
    assert.equal((await bench.processor.voidInvoice(invoice.processorInvoiceId)).status, 'void');
  });

  it('that another request holds are in an unknown state: asked again with the same key they are made once', async () => {
    const input = await inputOf();
    await bench.order({ kind: 'status', status: 429, code: 'lock_timeout', path: '/v1/invoices', times: 5 });
    const failure = await failureOf(bench.processor.createInvoice(input));
    assert.deepEqual([failure.kind, failure.details.code], ['unknown', 'lock_timeout']);
    await fetch(`${bench.lab.url}/lab/faults`, { method: 'DELETE' });
    const { processorInvoiceId } = await bench.processor.createInvoice(input);
    assert.equal((await bench.processor.createInvoice(input)).processorInvoiceId, processorInvoiceId);
  });

  it('are void once, also when they were given up; one that is paid stays paid', async () => {
    const [first, givenUp] = [await open(), await open()];
    await bench.processor.writeOffInvoice(givenUp.processorInvoiceId);
    for (const { processorInvoiceId } of [first, givenUp, first, givenUp]) {
      assert.equal((await bench.processor.voidInvoice(processorInvoiceId)).status, 'void');
    }
    const other = await open();
    await payPage(other.hostedInvoiceUrl ?? '', cards.good);
    assert.equal((await bench.processor.voidInvoice(other.processorInvoiceId)).status, 'paid');
  });

  for (const [outcome, status] of [
    ['succeed', 'paid'],
    ['decline', 'void'],
  ] as const) {
    it(`are not void before the bank has decided a payment of them, and ${status} then`, async () => {
      const { processorInvoiceId: id, hostedInvoiceUrl } = await open();
      await bench.order({ kind: 'processing' });
      await payPage(hostedInvoiceUrl ?? '', cards.good);
      assert.equal((await failureOf(bench.processor.voidInvoice(id))).kind, 'refused');
      assert.equal((await bench.processor.getInvoice(id)).status, 'open');
      const { payments } = await bench.stripe.invoices.retrieve(id, { expand: ['payments'] });
      const intentId = payments?.data[0]?.payment.payment_intent as string;
      const body = new URLSearchParams({ outcome });
      await fetch(`${bench.lab.url}/lab/payment_intents/${intentId}/finish`, { method: 'POST', body });
      assert.equal((await bench.processor.voidInvoice(id)).status, status);
    });
  }

  it('are deleted as drafts, which is void too, however often', async () => {
    const { processorInvoiceId } = await bench.processor.createInvoice(await inputOf());
    for (let turn = 0; turn < 2; turn += 1) {
      assert.equal((await bench.processor.voidInvoice(processorInvoiceId)).status, 'void');
    }
    const { kind, details } = await failureOf(bench.processor.getInvoice(processorInvoiceId));
    assert.deepEqual([kind, details.code], ['refused', 'resource_missing']);
  });

  it('are deleted as drafts also when the answer is lost', async () => {
    const { processorInvoiceId } = await bench.processor.createInvoice(await inputOf());
    await bench.order({ kind: 'lost', times: 1, method: 'DELETE', path: '/v1/invoices' });
    // The SDK or our code repeats the call: the second time the mirror is gone.
    const voided = await bench.processor.voidInvoice(processorInvoiceId);
    assert.deepEqual([voided.processorInvoiceId, voided.status], [processorInvoiceId, 'void']);
  });

  it('are void also when they are opened while they are deleted', async () => {
    const { processorInvoiceId: id } = await bench.processor.createInvoice(await inputOf());
    await bench.order({ kind: 'slow', delayMs: 200, method: 'DELETE', path: `/v1/invoices/${id}` });
    const voiding = bench.processor.voidInvoice(id);
    await until(async () => (await faultsLeft()) === 0, 'the deletion to be on its way');
    await bench.stripe.invoices.finalizeInvoice(id);
    assert.equal((await voiding).status, 'void');
    assert.equal((await bench.processor.getInvoice(id)).status, 'void');
  });

  it('can be paid after they were written off, and not be written off after they were paid', async () => {
    const { processorInvoiceId, hostedInvoiceUrl } = await open();
    assert.equal((await bench.processor.writeOffInvoice(processorInvoiceId)).status, 'uncollectible');
    await payPage(hostedInvoiceUrl ?? '', cards.good);
    assert.equal((await bench.processor.getInvoice(processorInvoiceId)).status, 'paid');
    assert.equal((await bench.processor.writeOffInvoice(processorInvoiceId)).status, 'paid');
    const other = await open();
    await payPage(other.hostedInvoiceUrl ?? '', cards.good);
    assert.equal((await bench.processor.writeOffInvoice(other.processorInvoiceId)).status, 'paid');
  });
});
