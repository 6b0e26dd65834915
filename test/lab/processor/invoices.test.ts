import assert from 'node:assert/strict';
import type Stripe from 'stripe';
import { cards, payPage, postForm, startWorkbench, until, type Workbench } from './workbench.js';

describe('the lab processor’s invoices', () => {
  let bench: Workbench;
  let customer: string;
  before(async () => {
    bench = await startWorkbench();
    customer = (await bench.stripe.customers.create({ email: 'billed@example.com' })).id;
  });
  after(() => bench.stop());

  async function draftOf(amount: number, details: Stripe.InvoiceCreateParams = {}): Promise<Stripe.Invoice> {
    const { id } = await bench.stripe.invoices.create({
      customer,
      collection_method: 'send_invoice',
      days_until_due: 30,
      auto_advance: false,
      metadata: { invoice_id: 'inv_1' },
      ...details,
    });
    await bench.stripe.invoiceItems.create({
      customer,
      invoice: id,
      amount,
      currency: 'usd',
      description: 'Use',
    });
    return bench.stripe.invoices.retrieve(id);
  }

  async function openOf(amount: number): Promise<Stripe.Invoice> {
    return bench.stripe.invoices.finalizeInvoice((await draftOf(amount)).id);
  }

  /** The kinds of the invoice's events, in order. */
  async function eventsOf(id: string): Promise<string[]> {
    const { events } = await bench.state();
    return events.filter(({ data }) => (data.object as { id?: string }).id === id).map(({ type }) => type);
  }

  function paymentOf(id: string): Promise<Stripe.Invoice> {
    return bench.stripe.invoices.retrieve(id, { expand: ['payments.data.payment.payment_intent'] });
  }

  it('begin as drafts that follow their items and have no page yet', async () => {
    const draft = await draftOf(1200);
    assert.equal(draft.status, 'draft');
    assert.deepEqual([draft.amount_due, draft.total, draft.amount_remaining], [1200, 1200, 1200]);
    assert.deepEqual([draft.hosted_invoice_url, draft.invoice_pdf, draft.number], [null, null, null]);
    assert.equal(draft.payments, undefined, 'payments are shown only where they are asked for');
    assert.equal(draft.lines.data[0]?.description, 'Use');
    const credit = await bench.stripe.invoiceItems.create({
      customer,
      invoice: draft.id,
      amount: -200,
      currency: 'usd',
    });
    assert.equal((await bench.stripe.invoices.retrieve(draft.id)).amount_due, 1000);
    await bench.stripe.invoiceItems.del(credit.id);
    assert.equal((await bench.stripe.invoices.retrieve(draft.id)).amount_due, 1200);
    assert.deepEqual(await eventsOf(draft.id), ['invoice.created']);
  });

  it('take the customer’s pending items only when they are told to', async () => {
    const other = (await bench.stripe.customers.create({})).id;
    await bench.stripe.invoiceItems.create({ customer: other, amount: 700, currency: 'usd' });
    assert.equal((await bench.stripe.invoices.create({ customer: other })).amount_due, 0);
    const including = { customer: other, pending_invoice_items_behavior: 'include' } as const;
    assert.equal((await bench.stripe.invoices.create(including)).amount_due, 700);
    const pending = await bench.stripe.invoiceItems.list({ customer: other, pending: true });
    assert.deepEqual(pending.data, []);
  });

  it('are finalized from 50 cents on, and can’t be changed afterwards', async () => {
    const small = await draftOf(49);
    await assert.rejects(bench.stripe.invoices.finalizeInvoice(small.id), { code: 'amount_too_small' });
    assert.equal((await bench.stripe.invoices.retrieve(small.id)).status, 'draft');
    await bench.stripe.invoices.del(small.id);
    await assert.rejects(bench.stripe.invoices.retrieve(small.id), { code: 'resource_missing' });

    const open = await openOf(50);
    assert.equal(open.status, 'open');
    assert.ok(open.hosted_invoice_url?.startsWith(bench.lab.url));
    assert.ok(open.status_transitions.finalized_at !== null && open.number !== null);
    assert.deepEqual(await eventsOf(open.id), ['invoice.created', 'invoice.finalized']);
    await assert.rejects(bench.stripe.invoices.finalizeInvoice(open.id), { code: 'invoice_not_editable' });
    await assert.rejects(bench.stripe.invoices.del(open.id), { code: 'invoice_not_editable' });
    const more = { customer, invoice: open.id, amount: 5, currency: 'usd' };
    await assert.rejects(bench.stripe.invoiceItems.create(more), { code: 'invoice_not_editable' });
  });

  it('are paid on their page, after a decline too, and tell their payment by expansion', async () => {
    const open = await openOf(1200);
    const page = await fetch(open.hosted_invoice_url!);
    assert.match(await page.text(), /Pay \$12\.00/);
    assert.equal((await payPage(open.hosted_invoice_url!, cards.declined)).status, 402);
    const failed = await bench.stripe.invoices.retrieve(open.id);
    assert.deepEqual([failed.status, failed.attempt_count, failed.attempted], ['open', 1, true]);

    assert.equal((await payPage(open.hosted_invoice_url!, cards.good)).status, 200);
    const paid = await paymentOf(open.id);
    assert.deepEqual([paid.status, paid.amount_paid, paid.amount_remaining], ['paid', 1200, 0]);
    const intent = paid.payments?.data[0]?.payment.payment_intent as Stripe.PaymentIntent;
    assert.equal(intent.amount_received, 1200);
    assert.deepEqual(intent.metadata, {}, 'its payment does not name the invoice');
    const charge = await bench.stripe.charges.retrieve(intent.latest_charge as string);
    assert.equal((await fetch(charge.receipt_url!)).status, 200);
    assert.deepEqual(await eventsOf(open.id), [
      'invoice.created',
      'invoice.finalized',
      'invoice.payment_failed',
      'invoice.paid',
      'invoice.payment_succeeded',
    ]);
    assert.equal((await payPage(open.hosted_invoice_url!, cards.good)).status, 409, 'it is paid once');
    await bench.receiver.waitFor(({ type }) => type === 'invoice.paid');
  });

  it('wait for the bank of a payer whom it asks', async () => {
    const open = await openOf(900);
    const answer = await payPage(open.hosted_invoice_url!, cards.authentication);
    assert.equal(answer.status, 303);
    assert.equal((await bench.stripe.invoices.retrieve(open.id)).status, 'open');
    await postForm(new URL(answer.headers.get('location')!, bench.lab.url).href, { outcome: 'approve' });
    assert.equal((await bench.stripe.invoices.retrieve(open.id)).status, 'paid');
  });

  it('are shown and paid only by who knows the address of their page, and as a document', async () => {
    const open = await openOf(900);
    const guessed = `${bench.lab.url}/i/${open.id}/guessed`;
    for (const url of [guessed, `${guessed}/pdf`]) assert.equal((await fetch(url)).status, 404);
    assert.equal((await payPage(guessed, cards.good)).status, 404);
    const document = await fetch(open.invoice_pdf!);
    assert.equal(document.headers.get('content-type'), 'application/pdf');
    const text = await document.text();
    assert.match(text, /^%PDF-1\.4\n/);
    assert.match(text, /\$9\.00/);
    const table = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)?.[1]);
    assert.equal(text.slice(table, table + 5), 'xref\n', 'the table of objects lies where the end says');
  });

  it('are paid by the API with a saved card, which may be declined', async () => {
    const method = await bench.stripe.paymentMethods.attach('pm_card_visa', { customer });
    const paid = await bench.stripe.invoices.pay((await openOf(800)).id, { payment_method: method.id });
    assert.equal(paid.status, 'paid');
    const open = await openOf(800);
    await assert.rejects(bench.stripe.invoices.pay(open.id), { code: 'resource_missing' });
    const failing = await bench.stripe.paymentMethods.attach('pm_card_chargeCustomerFail', { customer });
    await assert.rejects(bench.stripe.invoices.pay(open.id, { payment_method: failing.id }), {
      code: 'card_declined',
    });
    assert.equal((await bench.stripe.invoices.retrieve(open.id)).status, 'open');
  });

  it('are paid elsewhere without a charge, of which only invoice.paid tells', async () => {
    const open = await openOf(800);
    const paid = await bench.stripe.invoices.pay(open.id, { paid_out_of_band: true });
    assert.deepEqual([paid.status, paid.amount_paid], ['paid', 800]);
    assert.deepEqual(await eventsOf(open.id), ['invoice.created', 'invoice.finalized', 'invoice.paid']);
    const intent = (await paymentOf(open.id)).payments?.data[0]?.payment
      .payment_intent as Stripe.PaymentIntent;
    assert.deepEqual([intent.status, intent.latest_charge], ['canceled', null]);
  });

  it('are sent, which finalizes a draft, and only those that are to be sent', async () => {
    const draft = await draftOf(800);
    assert.equal((await bench.stripe.invoices.sendInvoice(draft.id)).status, 'open');
    assert.deepEqual((await eventsOf(draft.id)).slice(-2), ['invoice.finalized', 'invoice.sent']);
    const charged = await bench.stripe.invoices.create({ customer });
    await assert.rejects(bench.stripe.invoices.sendInvoice(charged.id), {
      type: 'StripeInvalidRequestError',
    });
    const undated = { customer, collection_method: 'send_invoice' } as const;
    await assert.rejects(bench.stripe.invoices.create(undated), { param: 'days_until_due' });
  });

  it('are voided while unpaid, and can’t be paid then', async () => {
    const open = await openOf(800);
    const { payments } = await paymentOf(open.id);
    const intent = payments?.data[0]?.payment.payment_intent as Stripe.PaymentIntent;
    await assert.rejects(bench.stripe.paymentIntents.cancel(intent.id), /void that invoice/);
    assert.equal((await bench.stripe.invoices.voidInvoice(open.id)).status, 'void');
    assert.equal((await bench.stripe.paymentIntents.retrieve(intent.id)).status, 'canceled');
    assert.equal((await eventsOf(open.id)).at(-1), 'invoice.voided');
    assert.equal((await payPage(open.hosted_invoice_url!, cards.good)).status, 409);
    await assert.rejects(bench.stripe.invoices.pay(open.id, { paid_out_of_band: true }), /can’t be paid/);
    await assert.rejects(bench.stripe.invoices.voidInvoice(open.id), { code: 'invoice_not_editable' });
  });

  it('are neither voided nor paid elsewhere while their payment is under way', async () => {
    const open = await openOf(800);
    await bench.order({ kind: 'processing' });
    await payPage(open.hosted_invoice_url!, cards.good);
    await assert.rejects(bench.stripe.invoices.voidInvoice(open.id), /under way/);
    await assert.rejects(bench.stripe.invoices.pay(open.id, { paid_out_of_band: true }), /under way/);
    const { status, payments } = await paymentOf(open.id);
    const intent = payments?.data[0]?.payment.payment_intent as Stripe.PaymentIntent;
    assert.deepEqual([status, intent.status], ['open', 'processing']);
  });

  it('are given up as uncollectible, and are then still paid or voided', async () => {
    const [first, second] = [await openOf(800), await openOf(800)];
    for (const { id } of [first, second]) {
      assert.equal((await bench.stripe.invoices.markUncollectible(id)).status, 'uncollectible');
      assert.equal((await eventsOf(id)).at(-1), 'invoice.marked_uncollectible');
    }
    await payPage(first.hosted_invoice_url!, cards.good);
    assert.equal((await bench.stripe.invoices.retrieve(first.id)).status, 'paid');
    assert.equal((await bench.stripe.invoices.voidInvoice(second.id)).status, 'void');
    await assert.rejects(bench.stripe.invoices.markUncollectible(first.id), { code: 'invoice_not_editable' });
  });

  it('of nothing are paid as they are finalized', async () => {
    const draft = await draftOf(0);
    assert.equal((await bench.stripe.invoices.finalizeInvoice(draft.id)).status, 'paid');
  });

  it('are listed, linked from the overview, and survive a restart', async () => {
    const open = await openOf(4321);
    const listed = await bench.stripe.invoices.list({ customer, status: 'open' });
    assert.ok(listed.data.some(({ id }) => id === open.id));
    assert.ok(listed.data.every(({ status }) => status === 'open'));
    const overview = await (await fetch(bench.lab.url)).text();
    assert.ok(overview.includes(new URL(open.hosted_invoice_url!).pathname));
    await bench.restart();
    const { hosted_invoice_url: url } = await bench.stripe.invoices.retrieve(open.id);
    await payPage(url!, cards.good);
    await until(async () => (await bench.stripe.invoices.retrieve(open.id)).status === 'paid', 'the payment');
  });
});
