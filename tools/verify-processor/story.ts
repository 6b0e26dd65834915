import type { Processor } from '../../adapters/processor/processor.js';
import { invoiceCalls } from './invoice-story.js';
import { listCalls } from './list-story.js';
import { customerOf, fails, userId, type Teller } from './telling.js';

export type { Teller } from './telling.js';

type Call = Exclude<keyof Processor, 'enabled'>;

const visa = '4242424242424242';

/**
 * Drives every call of the port through its outcomes, and the rest of the simulator's behaviour. The calls are a record
 * over the port, so that a new call without its part of the story does not compile.
 */
export async function tellStory(teller: Teller): Promise<void> {
  for (const part of Object.values(adapterCalls)) await part(teller);
  await tellInvoices(teller);
  await tellListings(teller);
}

const adapterCalls: Record<Call, (teller: Teller) => Promise<void>> = {
  createCustomer: async (teller) => {
    await customerOf(teller);
    await fails(() => teller.processor.createCustomer({ userId, email: 'other@example.com' }), 'refused');
  },
  knowsCustomer: async (teller) => {
    await teller.processor.knowsCustomer(await customerOf(teller));
    await teller.processor.knowsCustomer('cus_none');
  },
  deleteCustomer: async (teller) => {
    const { customerId } = await teller.processor.createCustomer({
      userId: 'usr_leaving',
      email: 'leaving@example.com',
    });
    await teller.processor.deleteCustomer(customerId);
    await teller.processor.deleteCustomer(customerId);
    await teller.processor.knowsCustomer(customerId);
  },
  createCheckoutSession: async (teller) => {
    await openSession(teller, 'top_opened');
    await openSession(teller, 'top_timed', { expiresAt: new Date(Date.now() + 3600_000) });
    await fails(() => openSession(teller, 'top_small', { amountCents: 49 }), 'refused');
  },
  getCheckoutSession: async (teller) => {
    for (const [topupId, card] of [
      ['top_paid', visa],
      ['top_declined', '4000000000009995'],
    ] as const) {
      const { sessionId, url } = await openSession(teller, topupId);
      await payPage(url ?? '', card);
      await teller.processor.getCheckoutSession(sessionId);
    }
    const { sessionId } = await openSession(teller, 'top_expired');
    await teller.stripe.checkout.sessions.expire(sessionId);
    await teller.processor.getCheckoutSession(sessionId);
    await fails(() => teller.processor.getCheckoutSession('cs_test_none'), 'refused');
  },
  expireCheckoutSession: async (teller) => {
    const { sessionId } = await openSession(teller, 'top_tried_out');
    await teller.processor.expireCheckoutSession(sessionId);
    await teller.processor.expireCheckoutSession(sessionId);
  },
  chargeSavedCard: async (teller) => {
    await charge(teller, 'top_charged', 'pm_card_visa');
    for (const method of ['pm_card_chargeCustomerFail', 'pm_card_authenticationRequired']) {
      await fails(() => charge(teller, `top_${method}`, method), 'declined');
    }
    await order(teller, '/lab/faults', { kind: 'processing' });
    const { paymentId } = await charge(teller, 'top_processing', 'pm_card_visa');
    await order(teller, `/lab/payment_intents/${paymentId}/finish`);
  },
  getPayment: async (teller) => {
    const { paymentId } = await charge(teller, 'top_read', 'pm_card_visa');
    await teller.processor.getPayment(paymentId);
    await fails(() => teller.processor.getPayment('pi_none'), 'refused');
  },
  findPaymentOfTopup: async (teller) => {
    const customerId = await customerOf(teller);
    for (const topupId of ['top_read', 'top_none']) {
      const createdFrom = new Date(Date.now() - 60_000);
      await teller.processor.findPaymentOfTopup({ customerId, topupId, createdFrom });
    }
  },
  cancelPayment: async (teller) => {
    const open = await teller.stripe.paymentIntents.create({
      amount: 500,
      currency: 'usd',
      payment_method_types: ['card'],
    });
    await teller.processor.cancelPayment(open.id);
    const { paymentId } = await charge(teller, 'top_kept', 'pm_card_visa');
    await teller.processor.cancelPayment(paymentId);
  },
  createCardSetup: async (teller) => {
    const customerId = await customerOf(teller);
    const { setupId, clientSecret } = await teller.processor.createCardSetup({
      userId,
      customerId,
      setupNo: 1,
    });
    const url = `${teller.labUrl}/setup/${setupId}?client_secret=${clientSecret}`;
    await payPage(url, '4000000000000002');
    await payPage(url, visa);
    await teller.stripe.setupIntents.retrieve(setupId);
  },
  cancelCardSetup: async (teller) => {
    const customerId = await customerOf(teller);
    const { setupId } = await teller.processor.createCardSetup({ userId, customerId, setupNo: 2 });
    await teller.processor.cancelCardSetup(setupId);
    await teller.processor.cancelCardSetup(setupId);
    await teller.stripe.setupIntents.retrieve(setupId);
  },
  getCard: async (teller) => {
    const cardId = await cardOf(teller, 'pm_card_mastercard');
    await teller.processor.getCard(cardId);
    await order(teller, `/lab/payment_methods/${cardId}/renew`);
    await fails(() => teller.processor.getCard('pm_none'), 'refused');
  },
  detachCard: async (teller) => {
    const cardId = await cardOf(teller, 'pm_card_visa');
    await teller.processor.detachCard(cardId);
    await teller.processor.getCard(cardId);
    await fails(async () => {
      const customer = await customerOf(teller);
      await teller.stripe.paymentMethods.attach('pm_card_visa_chargeDeclined', { customer });
    });
  },
  createRefund: async (teller) => {
    const { paymentId } = await charge(teller, 'top_given_back', 'pm_card_visa');
    const input = { paymentId, amountCents: 60, key: 'closing-refund:1' };
    await teller.processor.createRefund(input);
    await teller.processor.createRefund(input);
    await fails(
      () => teller.processor.createRefund({ ...input, amountCents: 99_999, key: 'closing-refund:2' }),
      'refused',
    );
  },
  getRefund: async (teller) => {
    const part = await refund(teller, 'top_refunded', 'pm_card_visa', 700);
    await teller.processor.getRefund(part);
    const pending = await refund(teller, 'top_pending', 'pm_card_pendingRefund');
    await order(teller, `/lab/refunds/${pending}/succeed`);
    await teller.processor.getRefund(pending);
    await teller.processor.getRefund(await refund(teller, 'top_sent_back', 'pm_card_refundFail'));
  },
  listRefundsOfCharge: async (teller) => {
    const { chargeId } = await charge(teller, 'top_listed', 'pm_card_visa');
    await teller.stripe.refunds.create({ charge: chargeId ?? '', amount: 100, reason: 'duplicate' });
    await teller.processor.listRefundsOfCharge(chargeId ?? '');
  },
  getDispute: async (teller) => {
    const won = await dispute(teller, 'top_won', 'pm_card_createDispute');
    await teller.stripe.disputes.update(won, { evidence: { uncategorized_text: 'winning_evidence' } });
    const lost = await dispute(teller, 'top_lost', 'pm_card_createDispute');
    await teller.stripe.disputes.close(lost);
    const inquiry = await dispute(teller, 'top_inquired', 'pm_card_createDisputeInquiry');
    await order(teller, `/lab/disputes/${inquiry}/escalate`);
    for (const disputeId of [won, lost, inquiry]) await teller.processor.getDispute(disputeId);
  },
  getFraudWarning: async (teller) => {
    const { chargeId } = await charge(teller, 'top_warned', 'pm_card_createIssuerFraudRecord');
    const { data } = await teller.stripe.radar.earlyFraudWarnings.list({ charge: chargeId ?? '' });
    await teller.processor.getFraudWarning(data[0]?.id ?? '');
  },
  getCardFingerprint: async (teller) => {
    const { chargeId } = await charge(teller, 'top_fingerprint', 'pm_card_visa');
    await teller.processor.getCardFingerprint(chargeId ?? '');
  },
  listEvents: async (teller) => {
    const since = new Date(Date.now() - 3600_000);
    const { after } = await teller.processor.listEvents({ since, after: null });
    if (after !== null) await teller.processor.listEvents({ since, after });
  },
  ...invoiceCalls,
  ...listCalls,
};

/** Invoices through each of their states. */
async function tellInvoices(teller: Teller): Promise<void> {
  const { stripe } = teller;
  const customer = await customerOf(teller);
  const draft = async (amount: number): Promise<string> => {
    const { id } = await stripe.invoices.create({
      customer,
      collection_method: 'send_invoice',
      days_until_due: 30,
      auto_advance: false,
      description: 'Overage',
      metadata: { user_id: userId },
      pending_invoice_items_behavior: 'exclude',
    });
    await stripe.invoiceItems.create({
      customer,
      invoice: id,
      amount,
      currency: 'usd',
      description: 'Usage',
    });
    return id;
  };
  const paid = await draft(1200);
  await stripe.invoices.update(paid, { metadata: { note: 'checked' } });
  const open = await stripe.invoices.finalizeInvoice(paid, { auto_advance: false });
  await stripe.invoices.sendInvoice(paid);
  await payPage(open.hosted_invoice_url ?? '', '4000000000000341');
  await payPage(open.hosted_invoice_url ?? '', visa);
  await stripe.invoices.retrieve(paid, { expand: ['payments.data.payment.payment_intent'] });
  await stripe.invoices.pay(await draft(1300), { payment_method: await cardOf(teller, 'pm_card_visa') });
  await stripe.invoices.pay(await draft(1400), { paid_out_of_band: true });
  const given = await draft(1500);
  await stripe.invoices.finalizeInvoice(given);
  await stripe.invoices.markUncollectible(given);
  await stripe.invoices.voidInvoice(given);
  const small = await draft(49);
  await fails(() => stripe.invoices.finalizeInvoice(small));
  await stripe.invoices.del(small);
}

/** Every list that the simulator answers. */
async function tellListings({ stripe, processor }: Teller): Promise<void> {
  const { customerId: customer } = await processor.createCustomer({ userId, email: 'verified@example.com' });
  await stripe.customers.list({ email: 'verified@example.com' });
  await stripe.customers.update(customer, { name: 'Verified', metadata: { seen: 'yes' } });
  await stripe.customers.listPaymentMethods(customer, { type: 'card' });
  await stripe.paymentIntents.search({ query: "metadata['topup_id']:'top_read'" });
  await stripe.charges.list({ customer, limit: 3 });
  await stripe.refunds.list({ limit: 3 });
  await stripe.disputes.list({ limit: 3, expand: ['data.charge'] });
  await stripe.checkout.sessions.list({ customer, limit: 3 });
  await stripe.setupIntents.list({ customer, expand: ['data.payment_method'] });
  await stripe.invoices.list({ customer, status: 'paid' });
  await stripe.invoiceItems.list({ customer, limit: 3 });
  await stripe.events.list({ types: ['payment_intent.succeeded', 'invoice.paid'], delivery_success: true });
  const { id } = await stripe.webhookEndpoints.create({
    url: 'https://service.example.com/webhook',
    enabled_events: ['invoice.paid'],
  });
  await stripe.webhookEndpoints.list();
  await stripe.webhookEndpoints.del(id);
}

async function openSession(
  teller: Teller,
  topupId: string,
  details: { amountCents?: number; expiresAt?: Date } = {},
): ReturnType<Processor['createCheckoutSession']> {
  return teller.processor.createCheckoutSession({
    topupId,
    userId,
    customerId: await customerOf(teller),
    amountCents: 2500,
    successUrl: 'https://dashboard.example.com/app/billing?session=success',
    cancelUrl: 'https://dashboard.example.com/app/billing?session=cancel',
    ...details,
  });
}

async function cardOf(teller: Teller, method: string): Promise<string> {
  const customer = await customerOf(teller);
  return (await teller.stripe.paymentMethods.attach(method, { customer })).id;
}

async function charge(teller: Teller, topupId: string, method: string): ReturnType<Processor['getPayment']> {
  const customerId = await customerOf(teller);
  const cardId = await cardOf(teller, method);
  return teller.processor.chargeSavedCard({
    topupId,
    userId,
    customerId,
    cardId,
    amountCents: 2500,
    source: 'saved_card',
  });
}

async function refund(teller: Teller, topupId: string, method: string, amount?: number): Promise<string> {
  const { paymentId } = await charge(teller, topupId, method);
  const params = { payment_intent: paymentId, ...(amount === undefined ? {} : { amount }) };
  return (await teller.stripe.refunds.create(params)).id;
}

async function dispute(teller: Teller, topupId: string, method: string): Promise<string> {
  const { paymentId } = await charge(teller, topupId, method);
  const { data } = await teller.stripe.disputes.list({ payment_intent: paymentId });
  const id = data[0]?.id;
  if (id === undefined) throw new Error(`${method} was not disputed: its part of the story is untold.`);
  return id;
}

async function payPage(url: string, cardNumber: string): Promise<void> {
  const body = new URLSearchParams({ cardNumber, cardExpiry: '12/34', cardCvc: '123' });
  await fetch(url, { method: 'POST', body, redirect: 'manual' });
}

async function order(teller: Teller, path: string, fields: Record<string, string> = {}): Promise<void> {
  const response = await fetch(`${teller.labUrl}${path}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
  });
  if (!response.ok) throw new Error(`The simulator refused ${path}: ${await response.text()}`);
}
