import type Stripe from 'stripe';
import { cardError, createMethod, findTestCard, findTestMethod, type TestCard } from './cards.js';
import { getCustomer } from '../customers.js';
import { invalidRequest, noSuch } from '../http/errors.js';
import type { Call, Endpoint, World } from '../http/endpoint.js';
import { idOf } from '../ids.js';
import { page } from '../http/listing.js';

/**
 * Finds the payment method that a request names. A ready-made test method (`pm_card_visa`) makes a new one each time.
 * @throws ApiError `resource_missing`
 */
export function getMethod(world: World, id: string, param?: string): Stripe.PaymentMethod {
  const ready = findTestMethod(id);
  if (ready !== undefined) return createMethod(world, ready);
  const method = world.store.find('payment_methods', id);
  if (method === undefined) throw noSuch('PaymentMethod', id, param);
  return method;
}

/** The test card behind a payment method. */
export function cardOf(world: World, methodId: string): TestCard & { setUp: boolean; spent: boolean } {
  const record = world.store.find('cards', methodId);
  const card = record === undefined ? undefined : findTestCard(record.number);
  if (record === undefined || card === undefined) throw new Error(`payment method ${methodId} has no card`);
  return { ...card, setUp: record.setUp, spent: record.spent };
}

/**
 * Checks that this customer may use a method: it is their own, or belongs to nobody and was never used.
 * @throws ApiError when it was detached or used up, or belongs to another customer
 */
export function requireUsable(world: World, method: Stripe.PaymentMethod, customerId: string | null): void {
  if (cardOf(world, method.id).spent) {
    throw invalidRequest(
      'This PaymentMethod was detached, or used once without a customer, and can’t be used again. Collect a new one.',
      { param: 'payment_method' },
    );
  }
  const owner = idOf(method.customer);
  if (owner !== null && owner !== customerId) {
    throw invalidRequest('This PaymentMethod belongs to a customer: name that customer.', {
      param: 'payment_method',
    });
  }
}

/** Gives a method to a customer and records the event. */
export function attachMethod(
  world: World,
  method: Stripe.PaymentMethod,
  customerId: string,
  details: { setUp: boolean; allowRedisplay?: Stripe.PaymentMethod.AllowRedisplay },
): Stripe.PaymentMethod {
  const record = world.store.find('cards', method.id);
  if (record === undefined) throw new Error(`payment method ${method.id} has no card`);
  world.store.put('cards', { ...record, setUp: record.setUp || details.setUp });
  const already = idOf(method.customer) === customerId;
  const attached = world.store.put('payment_methods', {
    ...method,
    customer: customerId,
    allow_redisplay: details.allowRedisplay ?? method.allow_redisplay ?? 'unspecified',
  });
  if (!already) world.emit('payment_method.attached', attached);
  return attached;
}

function attach({ world, params, id }: Call): Stripe.PaymentMethod {
  const customer = getCustomer(world, params.requiredString('customer'), 'customer');
  const method = getMethod(world, id);
  requireUsable(world, method, customer.id);
  const card = cardOf(world, method.id);
  if (card.declinesAttach && card.decline !== null) {
    throw cardError(card.decline.code, card.decline.message, card.decline.declineCode);
  }
  return attachMethod(world, method, customer.id, { setUp: false });
}

function detach({ world, id }: Call): Stripe.PaymentMethod {
  const method = getMethod(world, id);
  const owner = idOf(method.customer);
  if (owner === null) {
    throw invalidRequest('This PaymentMethod belongs to no customer, so there is nothing to detach.');
  }
  const record = world.store.find('cards', id);
  if (record !== undefined) world.store.put('cards', { ...record, spent: true });
  const customer = world.store.find('customers', owner);
  if (customer !== undefined && idOf(customer.invoice_settings.default_payment_method) === id) {
    world.store.put('customers', {
      ...customer,
      invoice_settings: { ...customer.invoice_settings, default_payment_method: null },
    });
  }
  const detached = world.store.put('payment_methods', { ...method, customer: null });
  world.emit('payment_method.detached', detached, { customer: owner });
  return detached;
}

function list(call: Call): object {
  const { world, params } = call;
  const customerId = call.id === '' ? params.string('customer') : call.id;
  if (customerId !== undefined) getCustomer(world, customerId, call.id === '' ? 'customer' : 'id');
  params.oneOf('type', ['card']);
  const methods = world.store
    .list('payment_methods')
    .filter((method) => customerId !== undefined && idOf(method.customer) === customerId);
  return page(call, methods);
}

export const paymentMethodEndpoints: readonly Endpoint[] = [
  { method: 'get', path: '/payment_methods', handle: list },
  { method: 'get', path: '/customers/:id/payment_methods', handle: list },
  { method: 'get', path: '/payment_methods/:id', handle: ({ world, id }) => getMethod(world, id) },
  { method: 'post', path: '/payment_methods/:id/attach', handle: attach },
  { method: 'post', path: '/payment_methods/:id/detach', handle: detach },
];
