import type Stripe from 'stripe';
import {
  ProcessorError,
  type Card,
  type CheckoutSession,
  type Dispute,
  type Payment,
  type Refund,
} from './processor.js';

/** Reads Stripe's objects into the port's words. An object that lacks a required field makes its answer unreadable. */

export function checkoutSessionOf(session: Stripe.Checkout.Session): CheckoutSession {
  return {
    sessionId: requireText(session.id, 'the session’s id'),
    url: session.url ?? null,
    status: sessionStatusOf(session.status),
    paymentStatus: paymentStatusOf(session.payment_status),
    expiresAt: new Date(requireInteger(session.expires_at, 'the session’s expiry') * 1000),
    payment: session.payment_intent === null ? null : expandedPaymentOf(session.payment_intent),
  };
}

/** An unknown word decides nothing: the session is looked at again later. */
function sessionStatusOf(status: string | null): CheckoutSession['status'] {
  return status === 'complete' || status === 'expired' ? status : 'open';
}

function paymentStatusOf(status: string): CheckoutSession['paymentStatus'] {
  return status === 'paid' || status === 'no_payment_required' ? status : 'unpaid';
}

function expandedPaymentOf(intent: string | Stripe.PaymentIntent): Payment {
  if (typeof intent === 'string') throw unreadable('the payment was not expanded');
  return paymentOf(intent);
}

export function paymentOf(intent: Stripe.PaymentIntent): Payment {
  const charge = intent.latest_charge;
  const metadata = metadataOf(intent);
  return {
    paymentId: requireText(intent.id, 'the payment’s id'),
    status: intentStatusOf(intent.status),
    amountReceivedCents: requireInteger(intent.amount_received, 'the amount received'),
    currency: requireText(intent.currency, 'the currency').toLowerCase(),
    chargeId: idOf(charge),
    receiptUrl: typeof charge === 'string' ? null : (charge?.receipt_url ?? null),
    chargedAt: chargedAtOf(charge),
    customerId: idOf(intent.customer),
    topupId: metadata['topup_id'] ?? null,
    userId: metadata['user_id'] ?? null,
    failure: failureOf(intent.last_payment_error),
    card: payingCardOf(intent.payment_method),
  };
}

/** The types promise metadata; a payment that lacks it names nothing of ours. */
function metadataOf(intent: {
  readonly metadata?: Readonly<Record<string, string | undefined>> | null;
}): Readonly<Record<string, string | undefined>> {
  return intent.metadata ?? {};
}

function chargedAtOf(charge: Stripe.PaymentIntent['latest_charge']): Date | null {
  if (charge === null || typeof charge === 'string') return null;
  return new Date(requireInteger(charge.created, 'the charge’s time') * 1000);
}

/** Only `succeeded` moves money; an unknown word counts as not yet decided. */
function intentStatusOf(status: string): Payment['status'] {
  switch (status) {
    case 'succeeded':
    case 'canceled':
    case 'requires_action':
      return status;
    case 'requires_confirmation':
      return 'requires_action';
    case 'requires_payment_method':
      return 'failed';
    default:
      return 'processing';
  }
}

function failureOf(error: Stripe.PaymentIntent.LastPaymentError | null | undefined): Payment['failure'] {
  if (error === null || error === undefined) return null;
  return { code: error.code ?? null, declineCode: error.decline_code ?? null };
}

function payingCardOf(method: Stripe.PaymentIntent['payment_method'] | undefined): Card | null {
  if (method === null || method === undefined || typeof method === 'string') return null;
  return method.card === undefined ? null : cardOf(method);
}

/** Reads a card. @throws ProcessorError `unknown` when it is no card */
export function cardOf(method: Stripe.PaymentMethod): Card {
  if (method.card === undefined) throw unreadable('the payment method is not a card');
  return {
    cardId: requireText(method.id, 'the card’s id'),
    customerId: idOf(method.customer),
    brand: requireText(method.card.brand, 'the card’s brand'),
    last4: requireText(method.card.last4, 'the card’s last four digits'),
    expMonth: requireInteger(method.card.exp_month, 'the card’s month'),
    expYear: requireInteger(method.card.exp_year, 'the card’s year'),
    fingerprint: method.card.fingerprint ?? null,
    keptByConsent: method.allow_redisplay === 'always',
  };
}

/** @param paymentId the payment behind its charge, which the refund itself may not name */
export function refundOf(refund: Stripe.Refund, paymentId: string): Refund {
  return {
    refundId: requireText(refund.id, 'the refund’s id'),
    paymentId,
    chargeId: idOf(refund.charge),
    amountCents: requireInteger(refund.amount, 'the refund’s amount'),
    currency: requireText(refund.currency, 'the refund’s currency').toLowerCase(),
    status: refundStatusOf(refund.status),
    key: refund.metadata?.['refund_key'] ?? null,
  };
}

/** A refund that waits for its receiver counts as not yet decided, and so does an unknown word. */
function refundStatusOf(status: string | null): Refund['status'] {
  return status === 'succeeded' || status === 'failed' || status === 'canceled' ? status : 'pending';
}

const closedDisputes = new Set(['won', 'lost', 'warning_closed', 'prevented']);

/** @param paymentId as for refunds */
export function disputeOf(dispute: Stripe.Dispute, paymentId: string): Dispute {
  // "List of zero, one, or two balance transactions": the withdrawal, and its return.
  const moves =
    (dispute.balance_transactions as Stripe.BalanceTransaction[] | undefined)?.map(({ amount }) => amount) ??
    [];
  return {
    disputeId: requireText(dispute.id, 'the dispute’s id'),
    paymentId,
    chargeId: requireText(idOf(dispute.charge), 'the dispute’s charge'),
    amountCents: requireInteger(dispute.amount, 'the dispute’s amount'),
    currency: requireText(dispute.currency, 'the dispute’s currency').toLowerCase(),
    status: requireText(dispute.status, 'the dispute’s status'),
    withdrawn: moves.some((cents) => cents < 0),
    reinstated: moves.some((cents) => cents > 0),
    closed: closedDisputes.has(dispute.status),
  };
}

/** Returns the id of a field that holds an id or, once expanded, the object itself. */
export function idOf(value: string | { readonly id: string } | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : value.id;
}

export function requireInteger(value: unknown, what: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw unreadable(`${what} is not a whole number`);
  return value as number;
}

export function requireText(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') throw unreadable(`${what} is missing`);
  return value;
}

/** The error of an answer that lacks a required field. It says nothing about the outcome: the call is repeated. */
function unreadable(what: string): ProcessorError {
  return new ProcessorError('unknown', `The payment processor’s answer can’t be read: ${what}. Try again.`);
}
