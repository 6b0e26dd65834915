import type Stripe from 'stripe';
import { blankSession, customerDetails, dayS, savingOptions } from './checkout-session-shape.js';
import { getCustomer } from '../customers.js';
import { invalidRequest, noSuch } from '../http/errors.js';
import type { Call, Endpoint, World } from '../http/endpoint.js';
import { idOf, newId } from '../ids.js';
import { page } from '../http/listing.js';
import { Params } from '../http/params.js';
import {
  cancelIntent,
  futureUsageOf,
  minimumCents,
  requireCardOnly,
  requireCurrency,
} from '../payments/payment-intents.js';
import { attachMethod } from '../cards/payment-methods.js';
import type { CheckoutDetails } from '../tables.js';

const halfHourS = 30 * 60;

/** @throws ApiError `resource_missing` */
export function getSession(world: World, id: string): Stripe.Checkout.Session {
  const session = world.store.find('checkout_sessions', id);
  if (session === undefined) throw noSuch('checkout.session', id);
  return session;
}

function create({ world, params }: Call): Stripe.Checkout.Session {
  const details = world.store.put('checkout_details', detailsOf(world, params));
  const { id, customerId } = details;
  return world.store.put('checkout_sessions', {
    ...blankSession(world, id),
    adaptive_pricing: adaptivePricingOf(params),
    amount_subtotal: details.amountCents,
    amount_total: details.amountCents,
    currency: details.currency,
    cancel_url: details.cancelUrl,
    success_url: details.successUrl,
    client_reference_id: params.stringOrNull('client_reference_id', 200),
    customer: customerId,
    customer_creation: customerId === null ? 'if_required' : null,
    customer_email: customerId === null ? details.email : null,
    customer_details: details.email === null ? null : customerDetails(details.email),
    expires_at: expiryOf(world, params),
    metadata: params.metadata(),
    saved_payment_method_options: customerId === null ? null : savingOptions(details.offersSave),
  });
}

/** Everything in a request that the page will need. */
function detailsOf(world: World, params: Params): CheckoutDetails {
  if (params.oneOf('mode', ['payment']) === undefined) requireMode();
  requireCardOnly(params);
  const customerId = params.stringOrNull('customer');
  const customer = customerId === null ? null : getCustomer(world, customerId, 'customer');
  const typedEmail = params.stringOrNull('customer_email');
  const payment = params.child('payment_intent_data') ?? new Params({});
  const total = totalOf(params);
  return {
    id: newId('cs_test', 58),
    amountCents: total.amount,
    currency: total.currency,
    customerId,
    email: customer === null ? typedEmail : customer.email,
    successUrl: urlOf(params, 'success_url') ?? requireSuccessUrl(),
    cancelUrl: urlOf(params, 'cancel_url') ?? null,
    metadata: payment.metadata(),
    description: payment.stringOrNull('description'),
    setupFutureUsage: futureUsageOf(payment),
    offersSave: offersSave(params, customerId),
    saveTicked: false,
  };
}

/** The processor takes times from half an hour to a day from now; default: a day. */
function expiryOf(world: World, params: Params): number {
  const now = world.now();
  return params.integer('expires_at', now + halfHourS, now + dayS) ?? now + dayS;
}

function offersSave(params: Params, customerId: string | null): boolean {
  const options = params.child('saved_payment_method_options');
  const save = options?.oneOf('payment_method_save', ['disabled', 'enabled']);
  if (save !== undefined && customerId === null) {
    throw invalidRequest('payment_method_save needs a customer to save the card for.', { param: 'customer' });
  }
  return save === 'enabled';
}

/** As for an account whose default is on: only a session that says so itself goes without it. */
function adaptivePricingOf(params: Params): { enabled: boolean } {
  return { enabled: params.child('adaptive_pricing')?.oneOf('enabled', ['true', 'false']) !== 'false' };
}

function requireMode(): never {
  throw invalidRequest("The lab's processor plays mode=payment only.", {
    code: 'parameter_missing',
    param: 'mode',
  });
}

function requireSuccessUrl(): never {
  throw invalidRequest('Send the success_url that the payer returns to.', {
    code: 'parameter_missing',
    param: 'success_url',
  });
}

function urlOf(params: Params, name: string): string | undefined {
  const url = params.string(name);
  // The page fills in this placeholder, so it counts as an ordinary word here.
  if (url !== undefined && !URL.canParse(url.replaceAll('{CHECKOUT_SESSION_ID}', 'id'))) {
    throw invalidRequest(`${url} is not a URL: write it with its scheme.`, {
      code: 'url_invalid',
      param: name,
    });
  }
  return url;
}

function totalOf(params: Params): { amount: number; currency: string } {
  const items = params.children('line_items') ?? [];
  if (items.length === 0) {
    throw invalidRequest('Send at least one of line_items.', {
      code: 'parameter_missing',
      param: 'line_items',
    });
  }
  const amounts = items.map((item) => {
    const price = item.child('price_data');
    if (price === undefined) {
      throw invalidRequest("The lab's processor knows line_items with price_data only.", {
        param: 'line_items',
      });
    }
    requireCurrency(price);
    const product = price.child('product_data');
    product?.requiredString('name');
    product?.string('description');
    if (product === undefined) {
      throw invalidRequest('Send product_data with a name.', {
        code: 'parameter_missing',
        param: 'line_items',
      });
    }
    return price.requiredInteger('unit_amount', 0, 99_999_999) * item.requiredInteger('quantity', 1, 999_999);
  });
  const amount = amounts.reduce((sum, cents) => sum + cents, 0);
  if (amount < minimumCents) {
    throw invalidRequest(`The total must be at least ${minimumCents} cents.`, { code: 'amount_too_small' });
  }
  return { amount, currency: 'usd' };
}

/**
 * Marks a session as paid by an intent, or as waiting for one that the bank has not decided on, and keeps the card if
 * the payer ticked the consent.
 */
export function completeSession(
  world: World,
  session: Stripe.Checkout.Session,
  intent: Stripe.PaymentIntent,
): Stripe.Checkout.Session {
  const details = getDetails(world, session.id);
  const method = world.store.find('payment_methods', idOf(intent.payment_method) ?? '');
  if (details.customerId !== null && details.saveTicked && method !== undefined) {
    const card = world.store.find('cards', method.id);
    if (card !== undefined) world.store.put('cards', { ...card, spent: false });
    // This consent lets the card be shown again; only setup_future_usage=off_session readies it for the bank.
    attachMethod(world, method, details.customerId, { setUp: false, allowRedisplay: 'always' });
  }
  const complete = world.store.put('checkout_sessions', {
    ...session,
    status: 'complete',
    payment_status: intent.status === 'succeeded' ? 'paid' : 'unpaid',
    payment_intent: intent.id,
    url: null,
  });
  world.emit('checkout.session.completed', complete);
  return complete;
}

/** Records the decision on the payment of a session that was complete and unpaid. */
export function settleSession(
  world: World,
  session: Stripe.Checkout.Session,
  intent: Stripe.PaymentIntent,
): void {
  const paid = intent.status === 'succeeded';
  const settled = world.store.put('checkout_sessions', {
    ...session,
    payment_status: paid ? 'paid' : 'unpaid',
  });
  world.emit(
    paid ? 'checkout.session.async_payment_succeeded' : 'checkout.session.async_payment_failed',
    settled,
  );
}

/** The page's own record of a session; every session has one. */
export function getDetails(world: World, sessionId: string): CheckoutDetails {
  const details = world.store.find('checkout_details', sessionId);
  if (details === undefined) throw new Error(`checkout session ${sessionId} has lost its details`);
  return details;
}

/** Ends an open session, and cancels a payment that was begun on its page. */
export function expireSession(world: World, session: Stripe.Checkout.Session): Stripe.Checkout.Session {
  const intent = world.store.find('payment_intents', idOf(session.payment_intent) ?? '');
  if (intent !== undefined) cancelIntent(world, intent, 'expired');
  const expired = world.store.put('checkout_sessions', { ...session, status: 'expired', url: null });
  world.emit('checkout.session.expired', expired);
  return expired;
}

function expire({ world, id }: Call): Stripe.Checkout.Session {
  const session = getSession(world, id);
  if (session.status !== 'open') {
    throw invalidRequest(`A Checkout Session that is ${String(session.status)} can’t be expired.`);
  }
  return expireSession(world, session);
}

function list(call: Call): object {
  const { params, world } = call;
  const customer = params.string('customer');
  const intent = params.string('payment_intent');
  const status = params.oneOf('status', ['open', 'complete', 'expired']);
  const sessions = world.store
    .list('checkout_sessions')
    .filter((session) => customer === undefined || idOf(session.customer) === customer)
    .filter((session) => intent === undefined || idOf(session.payment_intent) === intent)
    .filter((session) => status === undefined || session.status === status);
  return page(call, sessions);
}

export const checkoutSessionEndpoints: readonly Endpoint[] = [
  { method: 'post', path: '/checkout/sessions', handle: create },
  { method: 'get', path: '/checkout/sessions', handle: list },
  { method: 'get', path: '/checkout/sessions/:id', handle: ({ world, id }) => getSession(world, id) },
  { method: 'post', path: '/checkout/sessions/:id/expire', handle: expire },
];
