import type Stripe from 'stripe';
import { cardError } from './cards.js';
import { getCustomer } from '../customers.js';
import { ApiError, invalidRequest, noSuch } from '../http/errors.js';
import type { Call, Endpoint, World } from '../http/endpoint.js';
import { idOf, newId } from '../ids.js';
import { page } from '../http/listing.js';
import { pageUrl } from '../http/page-url.js';
import { requireCardOnly } from '../payments/payment-intents.js';
import { attachMethod, cardOf, getMethod, requireUsable } from './payment-methods.js';

/** @throws ApiError `resource_missing` */
export function getSetup(world: World, id: string): Stripe.SetupIntent {
  const setup = world.store.find('setup_intents', id);
  if (setup === undefined) throw noSuch('setupintent', id);
  return setup;
}

function create({ world, params }: Call): Stripe.SetupIntent {
  const customerId = params.stringOrNull('customer');
  if (customerId !== null) getCustomer(world, customerId, 'customer');
  requireCardOnly(params);
  const methodId = params.string('payment_method');
  const confirmNow = params.boolean('confirm') ?? false;
  const id = newId('seti');
  world.store.put('intent_details', { id, sessionId: null, returnUrl: params.stringOrNull('return_url') });
  const setup: Stripe.SetupIntent = world.store.put('setup_intents', {
    id,
    object: 'setup_intent',
    allowed_payment_method_types: null,
    application: null,
    automatic_payment_methods: null,
    cancellation_reason: null,
    client_secret: newId(`${id}_secret`),
    created: world.now(),
    customer: customerId,
    customer_account: null,
    description: params.stringOrNull('description'),
    excluded_payment_method_types: null,
    flow_directions: null,
    last_setup_error: null,
    latest_attempt: null,
    livemode: false,
    managed_payments: null,
    mandate: null,
    metadata: params.metadata(),
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: ['card'],
    single_use_mandate: null,
    status: 'requires_payment_method',
    usage: params.oneOf('usage', ['off_session', 'on_session']) ?? 'off_session',
  });
  world.emit('setup_intent.created', setup);
  if (methodId === undefined) return setup;
  const method = getMethod(world, methodId, 'payment_method');
  if (confirmNow) return attemptSetup(world, setup, method);
  return world.store.put('setup_intents', {
    ...setup,
    payment_method: method.id,
    status: 'requires_confirmation',
  });
}

function confirm({ world, params, id }: Call): Stripe.SetupIntent {
  const setup = getSetup(world, id);
  const methodId = params.string('payment_method') ?? idOf(setup.payment_method);
  const returnUrl = params.string('return_url');
  if (!isOpen(setup)) {
    throw invalidRequest(`A SetupIntent that is ${setup.status} can’t be confirmed.`, {
      code: 'setup_intent_unexpected_state',
      setup_intent: setup,
    });
  }
  if (methodId === null) {
    throw invalidRequest('Name a payment_method to confirm with.', {
      code: 'parameter_missing',
      param: 'payment_method',
    });
  }
  if (returnUrl !== undefined) world.store.put('intent_details', { id, sessionId: null, returnUrl });
  return attemptSetup(world, setup, getMethod(world, methodId, 'payment_method'));
}

/** Tells whether a setup still takes a card. */
export function isOpen(setup: Stripe.SetupIntent): boolean {
  return ['requires_payment_method', 'requires_confirmation', 'requires_action'].includes(setup.status);
}

/** Saves a card without charging it; the payer is present, so their bank may ask them first. */
export function attemptSetup(
  world: World,
  setup: Stripe.SetupIntent,
  method: Stripe.PaymentMethod,
): Stripe.SetupIntent {
  requireUsable(world, method, idOf(setup.customer));
  const card = cardOf(world, method.id);
  if (card.declinesAttach && card.decline !== null) {
    return refuseSetup(world, setup, card.decline.code, card.decline.message, card.decline.declineCode);
  }
  if (card.authentication === 'never') return finishSetup(world, setup, method);
  const returnUrl = world.store.find('intent_details', setup.id)?.returnUrl ?? null;
  const waiting = world.store.put('setup_intents', {
    ...setup,
    status: 'requires_action',
    payment_method: method.id,
    last_setup_error: null,
    next_action: {
      type: 'redirect_to_url',
      redirect_to_url: { url: pageUrl(`/c/authenticate/${setup.id}`), return_url: returnUrl },
    },
  });
  world.emit('setup_intent.requires_action', waiting);
  return waiting;
}

function cancel({ world, id }: Call): Stripe.SetupIntent {
  const setup = getSetup(world, id);
  if (!isOpen(setup)) {
    throw invalidRequest(`A SetupIntent that is ${setup.status} can’t be cancelled.`, {
      code: 'setup_intent_unexpected_state',
      setup_intent: setup,
    });
  }
  const canceled = world.store.put('setup_intents', { ...setup, status: 'canceled', next_action: null });
  world.emit('setup_intent.canceled', canceled);
  return canceled;
}

/** Continues with a card whose owner has answered the bank. */
export function finishSetupAuthentication(
  world: World,
  setup: Stripe.SetupIntent,
  approved: boolean,
): Stripe.SetupIntent {
  const methodId = idOf(setup.payment_method);
  const method = methodId === null ? undefined : world.store.find('payment_methods', methodId);
  if (method === undefined) throw new Error(`${setup.id} waits for authentication without a payment method`);
  if (approved) return finishSetup(world, setup, method);
  const message = 'The card was not approved at the bank. Try again or take another card.';
  return refuseSetup(world, setup, 'setup_intent_authentication_failure', message);
}

function finishSetup(
  world: World,
  setup: Stripe.SetupIntent,
  method: Stripe.PaymentMethod,
): Stripe.SetupIntent {
  const customerId = idOf(setup.customer);
  if (customerId !== null) {
    attachMethod(world, method, customerId, { setUp: setup.usage === 'off_session' });
  }
  const succeeded = world.store.put('setup_intents', {
    ...setup,
    status: 'succeeded',
    payment_method: method.id,
    last_setup_error: null,
    next_action: null,
  });
  world.emit('setup_intent.succeeded', succeeded);
  return succeeded;
}

function refuseSetup(
  world: World,
  setup: Stripe.SetupIntent,
  code: string,
  message: string,
  declineCode?: string,
): never {
  const failed = world.store.put('setup_intents', {
    ...setup,
    status: 'requires_payment_method',
    payment_method: null,
    next_action: null,
    last_setup_error: {
      type: 'card_error',
      code,
      message,
      ...(declineCode === undefined ? {} : { decline_code: declineCode }),
    },
  });
  world.emit('setup_intent.setup_failed', failed);
  const error = cardError(code, message, declineCode);
  throw new ApiError(error.status, { ...error.body, setup_intent: failed });
}

function list(call: Call): object {
  const customer = call.params.string('customer');
  const setups = call.world.store
    .list('setup_intents')
    .filter((setup) => customer === undefined || idOf(setup.customer) === customer);
  return page(call, setups);
}

export const setupIntentEndpoints: readonly Endpoint[] = [
  { method: 'post', path: '/setup_intents', handle: create },
  { method: 'get', path: '/setup_intents', handle: list },
  {
    method: 'get',
    path: '/setup_intents/:id',
    browser: true,
    handle: ({ world, id }) => getSetup(world, id),
  },
  { method: 'post', path: '/setup_intents/:id/confirm', browser: true, handle: confirm },
  { method: 'post', path: '/setup_intents/:id/cancel', handle: cancel },
];
