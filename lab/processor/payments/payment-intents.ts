import type Stripe from 'stripe';
import { attemptPayment } from './charging.js';
import { getCustomer } from '../customers.js';
import { type ApiError, invalidRequest, noSuch } from '../http/errors.js';
import { unwritten, type Call, type Endpoint, type World } from '../http/endpoint.js';
import { idOf, newId } from '../ids.js';
import { paysInvoice } from '../invoices/invoice-settlement.js';
import { page } from '../http/listing.js';
import type { Params } from '../http/params.js';
import { getMethod, requireUsable } from '../cards/payment-methods.js';
import { search } from './payment-search.js';
import type { FutureUsage } from '../tables.js';

/** The smallest charge in US dollars (docs.stripe.com/currencies, minimum and maximum amounts). */
export const minimumCents = 50;
/** The largest: eight digits. */
export const maximumCents = 99_999_999;

export interface NewIntent {
  readonly amount: number;
  readonly currency: string;
  readonly customerId: string | null;
  readonly description: string | null;
  readonly metadata: Record<string, string>;
  readonly receiptEmail: string | null;
  readonly setupFutureUsage: FutureUsage;
  /** The Checkout Session that the intent pays, if any. */
  readonly sessionId: string | null;
  readonly returnUrl: string | null;
}

/** Records a new intent that still needs a payment method. */
export function createIntent(world: World, input: NewIntent): Stripe.PaymentIntent {
  const id = newId('pi');
  world.store.put('intent_details', { id, sessionId: input.sessionId, returnUrl: input.returnUrl });
  const intent: Stripe.PaymentIntent = world.store.put('payment_intents', {
    id,
    object: 'payment_intent',
    allowed_payment_method_types: null,
    amount: input.amount,
    amount_capturable: 0,
    amount_details: { tip: {} },
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic_async',
    client_secret: newId(`${id}_secret`),
    confirmation_method: 'automatic',
    created: world.now(),
    currency: input.currency,
    customer: input.customerId,
    customer_account: null,
    description: input.description,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    managed_payments: null,
    metadata: input.metadata,
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: ['card'],
    processing: null,
    receipt_email: input.receiptEmail,
    review: null,
    setup_future_usage: input.setupFutureUsage,
    shipping: null,
    source: unwritten,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: 'requires_payment_method',
    transfer_data: null,
    transfer_group: null,
  });
  world.emit('payment_intent.created', intent);
  return intent;
}

/** @throws ApiError `resource_missing` */
export function getIntent(world: World, id: string): Stripe.PaymentIntent {
  const intent = world.store.find('payment_intents', id);
  if (intent === undefined) throw noSuch('payment_intent', id);
  return intent;
}

/** @throws ApiError for an amount under the processor's minimum, or an unknown currency */
export function requireAmount(params: Params, name = 'amount'): number {
  const amount = params.requiredInteger(name, 0, maximumCents);
  if (amount < minimumCents) {
    throw invalidRequest(`The amount must be at least ${minimumCents} cents.`, {
      code: 'amount_too_small',
      param: name,
    });
  }
  return amount;
}

/** Takes only US dollars, the service's currency. */
export function requireCurrency(params: Params): string {
  const currency = params.requiredString('currency').toLowerCase();
  if (currency !== 'usd') {
    throw invalidRequest(`The lab's processor takes usd only, not ${currency}.`, { param: 'currency' });
  }
  return currency;
}

function create({ world, params }: Call): Stripe.PaymentIntent {
  const customerId = params.stringOrNull('customer');
  if (customerId !== null) getCustomer(world, customerId, 'customer');
  requireCardOnly(params);
  const { methodId, confirm: confirmNow, offSession } = confirmationOf(params);
  const intent = createIntent(world, {
    amount: requireAmount(params),
    currency: requireCurrency(params),
    customerId,
    description: params.stringOrNull('description'),
    metadata: params.metadata(),
    receiptEmail: params.stringOrNull('receipt_email'),
    setupFutureUsage: futureUsageOf(params),
    sessionId: null,
    returnUrl: params.stringOrNull('return_url'),
  });
  if (methodId === undefined) return intent;
  const method = getMethod(world, methodId, 'payment_method');
  requireUsable(world, method, customerId);
  if (confirmNow) return attemptPayment(world, intent, method, offSession);
  return world.store.put('payment_intents', {
    ...intent,
    payment_method: method.id,
    status: 'requires_confirmation',
  });
}

function confirmationOf(params: Params): {
  methodId: string | undefined;
  confirm: boolean;
  offSession: boolean;
} {
  const methodId = params.string('payment_method');
  const confirmNow = params.boolean('confirm') ?? false;
  const offSession = params.boolean('off_session') ?? false;
  if (offSession && !confirmNow) {
    throw invalidRequest('off_session can only be sent together with confirm=true.', {
      param: 'off_session',
    });
  }
  if (confirmNow && methodId === undefined) {
    throw invalidRequest('Name a payment_method to confirm with.', {
      code: 'parameter_missing',
      param: 'payment_method',
    });
  }
  return { methodId, confirm: confirmNow, offSession };
}

/** Tells whether the request asks to keep the card, and for payments with its owner away or present. */
export function futureUsageOf(params: Params): FutureUsage {
  return (
    params.oneOf<'off_session' | 'on_session'>('setup_future_usage', ['off_session', 'on_session']) ?? null
  );
}

/** Dahlia still takes `payment_method_types`; the simulator plays only cards. */
export function requireCardOnly(params: Params): void {
  const types = params.strings('payment_method_types') ?? ['card'];
  if (types.some((type) => type !== 'card')) {
    throw invalidRequest("The lab's processor plays cards only: send payment_method_types[]=card.", {
      param: 'payment_method_types',
    });
  }
  const automatic = params.child('automatic_payment_methods');
  automatic?.boolean('enabled');
  automatic?.oneOf('allow_redirects', ['always', 'never']);
}

function confirm({ world, params, id }: Call): Stripe.PaymentIntent {
  const intent = getIntent(world, id);
  const methodId = params.string('payment_method') ?? idOf(intent.payment_method);
  const offSession = params.boolean('off_session') ?? false;
  const returnUrl = params.string('return_url');
  const usage = futureUsageOf(params);
  if (!['requires_payment_method', 'requires_confirmation', 'requires_action'].includes(intent.status)) {
    throw unexpectedState(intent, 'confirmed');
  }
  if (methodId === null) {
    throw invalidRequest('Name a payment_method to confirm with.', {
      code: 'payment_intent_unexpected_state',
      payment_intent: intent,
    });
  }
  const details = world.store.find('intent_details', id);
  if (returnUrl !== undefined && details !== undefined) {
    world.store.put('intent_details', { ...details, returnUrl });
  }
  const method = getMethod(world, methodId, 'payment_method');
  const updated = { ...intent, setup_future_usage: usage ?? intent.setup_future_usage };
  return attemptPayment(world, updated, method, offSession);
}

function cancel({ world, params, id }: Call): Stripe.PaymentIntent {
  const intent = getIntent(world, id);
  const reasons = ['abandoned', 'duplicate', 'fraudulent', 'requested_by_customer'] as const;
  const reason = params.oneOf('cancellation_reason', reasons);
  const open = ['requires_payment_method', 'requires_confirmation', 'requires_action', 'requires_capture'];
  if (!open.includes(intent.status)) throw unexpectedState(intent, 'canceled');
  const session = world.store.find('intent_details', id)?.sessionId ?? null;
  if (session !== null) {
    throw invalidRequest(`This PaymentIntent belongs to ${session}: expire that Checkout Session instead.`, {
      code: 'payment_intent_unexpected_state',
      payment_intent: intent,
    });
  }
  if (paysInvoice(world, id)) {
    throw invalidRequest('This PaymentIntent belongs to an invoice: void that invoice instead.', {
      code: 'payment_intent_unexpected_state',
      payment_intent: intent,
    });
  }
  return cancelIntent(world, intent, reason ?? null);
}

/** Ends an unpaid intent for good. */
export function cancelIntent(
  world: World,
  intent: Stripe.PaymentIntent,
  reason: Stripe.PaymentIntent.CancellationReason | null,
): Stripe.PaymentIntent {
  const canceled = world.store.put('payment_intents', {
    ...intent,
    status: 'canceled',
    canceled_at: world.now(),
    cancellation_reason: reason,
    next_action: null,
  });
  world.emit('payment_intent.canceled', canceled);
  return canceled;
}

function unexpectedState(intent: Stripe.PaymentIntent, wanted: string): ApiError {
  return invalidRequest(`A PaymentIntent that is ${intent.status} can’t be ${wanted}.`, {
    code: 'payment_intent_unexpected_state',
    payment_intent: intent,
  });
}

function list(call: Call): object {
  const customer = call.params.string('customer');
  const intents = call.world.store
    .list('payment_intents')
    .filter((intent) => customer === undefined || idOf(intent.customer) === customer);
  return page(call, intents);
}

export const paymentIntentEndpoints: readonly Endpoint[] = [
  { method: 'post', path: '/payment_intents', handle: create },
  { method: 'get', path: '/payment_intents', handle: list },
  // This route stands before :id, which would take the word for an id.
  { method: 'get', path: '/payment_intents/search', handle: (call) => search(call, 'payment_intents') },
  {
    method: 'get',
    path: '/payment_intents/:id',
    browser: true,
    handle: ({ world, id }) => getIntent(world, id),
  },
  { method: 'post', path: '/payment_intents/:id/confirm', browser: true, handle: confirm },
  { method: 'post', path: '/payment_intents/:id/cancel', handle: cancel },
];
