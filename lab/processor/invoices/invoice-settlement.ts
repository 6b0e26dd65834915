import type Stripe from 'stripe';
import type { World } from '../http/endpoint.js';
import { idOf } from '../ids.js';

/** Updates an invoice when the payment behind it is decided, in any way. */

/** Finds the invoice that a payment pays, with the record that ties the two. */
function findInvoiceOf(
  world: World,
  intentId: string,
): { invoice: Stripe.Invoice; payment: Stripe.InvoicePayment } | undefined {
  const payment = world.store
    .list('invoice_payments')
    .find((candidate) => idOf(candidate.payment.payment_intent) === intentId);
  const invoice = world.store.find('invoices', idOf(payment?.invoice) ?? '');
  return payment === undefined || invoice === undefined ? undefined : { invoice, payment };
}

/** Whether a payment belongs to an invoice. */
export function paysInvoice(world: World, intentId: string): boolean {
  return findInvoiceOf(world, intentId) !== undefined;
}

/** Marks the invoice of a payment that succeeded as paid. */
export function settleInvoice(world: World, intent: Stripe.PaymentIntent): void {
  const found = findInvoiceOf(world, intent.id);
  if (found === undefined) return;
  const payment = world.store.put('invoice_payments', {
    ...found.payment,
    amount_paid: intent.amount_received,
    status: 'paid',
    status_transitions: { canceled_at: null, paid_at: world.now() },
  });
  const paid = markPaid(world, {
    ...found.invoice,
    amount_paid: intent.amount_received,
    attempt_count: found.invoice.attempt_count + 1,
    attempted: true,
  });
  world.emit('invoice_payment.paid', payment);
  world.emit('invoice.paid', paid);
  world.emit('invoice.payment_succeeded', paid);
}

/** Records the state alone; the events depend on how it was paid. */
export function markPaid(world: World, invoice: Stripe.Invoice): Stripe.Invoice {
  return world.store.put('invoices', {
    ...invoice,
    status: 'paid',
    amount_remaining: 0,
    auto_advance: false,
    status_transitions: { ...invoice.status_transitions, paid_at: world.now() },
  });
}

/** Counts an attempt that failed; the invoice stays as it is. */
export function failInvoice(world: World, intent: Stripe.PaymentIntent): void {
  const found = findInvoiceOf(world, intent.id);
  if (found === undefined) return;
  const failed = world.store.put('invoices', {
    ...found.invoice,
    attempt_count: found.invoice.attempt_count + 1,
    attempted: true,
  });
  world.emit('invoice.payment_failed', failed);
}

/** Ends the record that ties an invoice to its payment, which is canceled. */
export function cancelInvoicePayment(world: World, payment: Stripe.InvoicePayment): void {
  world.store.put('invoice_payments', {
    ...payment,
    status: 'canceled',
    status_transitions: { canceled_at: world.now(), paid_at: null },
  });
}
