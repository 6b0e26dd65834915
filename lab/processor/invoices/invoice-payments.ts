import type Stripe from 'stripe';
import { attemptPayment } from '../payments/charging.js';
import { getCustomer } from '../customers.js';
import type { Call, World } from '../http/endpoint.js';
import { invalidRequest } from '../http/errors.js';
import { idOf, newId } from '../ids.js';
import { getInvoice } from './invoice-items.js';
import { cancelInvoicePayment, markPaid } from './invoice-settlement.js';
import { pageUrl } from '../http/page-url.js';
import { cancelIntent, createIntent, getIntent, minimumCents } from '../payments/payment-intents.js';
import { getMethod } from '../cards/payment-methods.js';

/**
 * Turns a draft into a payable invoice: with a number, a hosted page and a payment behind it.
 * @throws ApiError `amount_too_small` for an amount that can't be charged
 */
export function finalizeInvoice(world: World, draft: Stripe.Invoice): Stripe.Invoice {
  if (draft.status !== 'draft') {
    throw invalidRequest(`An invoice that is ${String(draft.status)} was finalized already.`, {
      code: 'invoice_not_editable',
    });
  }
  if (draft.amount_due > 0 && draft.amount_due < minimumCents) {
    throw invalidRequest(`An invoice must be for at least ${minimumCents} cents.`, {
      code: 'amount_too_small',
      param: 'amount',
    });
  }
  const customer = getCustomer(world, idOf(draft.customer) ?? '', 'customer');
  const invoiceNo = customer.next_invoice_sequence ?? 1;
  world.store.put('customers', { ...customer, next_invoice_sequence: invoiceNo + 1 });
  // Anyone with the address may see and pay it, so the id must not reveal it.
  const address = `/i/${draft.id}/${newId('live', 40)}`;
  const open = world.store.put('invoices', {
    ...draft,
    status: 'open',
    number: `${customer.invoice_prefix ?? 'LAB'}-${String(invoiceNo).padStart(4, '0')}`,
    effective_at: world.now(),
    hosted_invoice_url: pageUrl(address),
    invoice_pdf: pageUrl(`${address}/pdf`),
    status_transitions: { ...draft.status_transitions, finalized_at: world.now() },
  });
  if (open.amount_due > 0) beginPayment(world, open);
  world.emit('invoice.finalized', open);
  return open.amount_due > 0 ? open : payWithoutCharge(world, open);
}

/** The payment behind an invoice carries none of its metadata, and does not name it (reference: payments, 4). */
function beginPayment(world: World, invoice: Stripe.Invoice): void {
  const intent = createIntent(world, {
    amount: invoice.amount_due,
    currency: invoice.currency,
    customerId: idOf(invoice.customer),
    description: 'Payment for Invoice',
    metadata: {},
    receiptEmail: null,
    setupFutureUsage: null,
    sessionId: null,
    returnUrl: null,
  });
  world.store.put('invoice_payments', {
    id: newId('inpay'),
    object: 'invoice_payment',
    amount_paid: null,
    amount_requested: invoice.amount_due,
    created: world.now(),
    currency: invoice.currency,
    invoice: invoice.id,
    is_default: true,
    livemode: false,
    payment: { type: 'payment_intent', payment_intent: intent.id },
    status: 'open',
    status_transitions: { canceled_at: null, paid_at: null },
  });
}

/** @returns the payments of an invoice in the order of their creation */
export function paymentsOf(world: World, invoiceId: string): Stripe.InvoicePayment[] {
  return world.store.list('invoice_payments').filter(({ invoice }) => idOf(invoice) === invoiceId);
}

/**
 * Ends the payments that were begun for an invoice.
 * @throws ApiError while a bank decides one: that one may still succeed
 */
export function dropPayments(world: World, invoiceId: string): void {
  for (const payment of paymentsOf(world, invoiceId)) {
    if (payment.status !== 'open') continue;
    cancelIntent(world, openIntentOf(world, payment), 'void_invoice');
    cancelInvoicePayment(world, payment);
  }
}

/**
 * Marks an invoice as paid without a charge: its amount is zero, or was paid elsewhere. Only `invoice.paid` tells of
 * it.
 */
function payWithoutCharge(world: World, invoice: Stripe.Invoice): Stripe.Invoice {
  dropPayments(world, invoice.id);
  const paid = markPaid(world, {
    ...invoice,
    amount_paid: invoice.amount_due,
    amount_paid_off_stripe: invoice.amount_due,
  });
  world.emit('invoice.paid', paid);
  return paid;
}

/** @throws ApiError for an invoice that can't be paid, and 402 for a decline */
export function payInvoice({ world, params, id }: Call): Stripe.Invoice {
  const outOfBand = params.boolean('paid_out_of_band') ?? false;
  const offSession = params.boolean('off_session') ?? true;
  const methodId = params.string('payment_method');
  const found = getInvoice(world, id);
  const invoice = found.status === 'draft' ? finalizeInvoice(world, found) : found;
  if (found.status === 'draft' && invoice.status === 'paid') return invoice;
  requirePayable(invoice);
  if (outOfBand) return payWithoutCharge(world, invoice);
  const method = getMethod(world, methodId ?? defaultMethodOf(world, invoice), 'payment_method');
  payWith(world, invoice, method, offSession);
  return getInvoice(world, id);
}

/** Pays with a card; the invoice follows its payment's decision. @throws ApiError 402 for a decline */
export function payWith(
  world: World,
  invoice: Stripe.Invoice,
  method: Stripe.PaymentMethod,
  offSession: boolean,
): Stripe.PaymentIntent {
  const payment = paymentsOf(world, invoice.id).find(({ status }) => status === 'open');
  return attemptPayment(world, openIntentOf(world, payment), method, offSession);
}

/** The payment behind an invoice. @throws ApiError while its bank decides it */
function openIntentOf(world: World, payment: Stripe.InvoicePayment | undefined): Stripe.PaymentIntent {
  const intent = getIntent(world, idOf(payment?.payment.payment_intent) ?? '');
  if (intent.status === 'processing') throw invalidRequest(`The payment ${intent.id} is under way already.`);
  return intent;
}

/** Tells whether an invoice can be paid; an uncollectible one still can. */
export function isPayable(invoice: Stripe.Invoice): boolean {
  return invoice.status === 'open' || invoice.status === 'uncollectible';
}

function requirePayable(invoice: Stripe.Invoice): void {
  if (isPayable(invoice)) return;
  throw invalidRequest(`An invoice that is ${String(invoice.status)} can’t be paid.`);
}

function defaultMethodOf(world: World, invoice: Stripe.Invoice): string {
  const customer = world.store.find('customers', idOf(invoice.customer) ?? '');
  const methodId =
    idOf(invoice.default_payment_method) ?? idOf(customer?.invoice_settings.default_payment_method);
  if (methodId !== null) return methodId;
  throw invalidRequest('Neither the invoice nor its customer has a default_payment_method: name one.', {
    code: 'resource_missing',
    param: 'payment_method',
  });
}
