import type Stripe from 'stripe';
import { invalidRequest, noSuch } from './http/errors.js';
import type { Call, Endpoint, World } from './http/endpoint.js';
import { idOf, newId } from './ids.js';
import { page } from './http/listing.js';
import type { Params } from './http/params.js';

/** @throws ApiError `resource_missing`, 404 when the path names it and 400 when a parameter does */
export function getCustomer(world: World, id: string, param?: string): Stripe.Customer {
  const customer = world.store.find('customers', id);
  if (customer === undefined) throw noSuch('customer', id, param);
  return customer;
}

function createCustomer({ world, params }: Call): Stripe.Customer {
  const customer = world.store.put('customers', {
    id: newId('cus', 14),
    object: 'customer',
    address: null,
    balance: 0,
    created: world.now(),
    currency: null,
    customer_account: null,
    default_source: null,
    delinquent: false,
    description: params.stringOrNull('description'),
    discount: null,
    email: emailOf(params) ?? null,
    invoice_prefix: newId('', 8).slice(1).toUpperCase(),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    livemode: false,
    metadata: params.metadata(),
    name: params.stringOrNull('name'),
    next_invoice_sequence: 1,
    phone: params.stringOrNull('phone'),
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  });
  world.emit('customer.created', customer);
  return customer;
}

function updateCustomer({ world, params, id }: Call): Stripe.Customer {
  const before = getCustomer(world, id);
  const settings = params.child('invoice_settings');
  const method = settings?.string('default_payment_method');
  if (method !== undefined && idOf(world.store.find('payment_methods', method)?.customer) !== id) {
    throw noSuch('payment method of this customer', method, 'invoice_settings[default_payment_method]');
  }
  const metadata = { ...before.metadata, ...params.metadata() };
  const after: Stripe.Customer = {
    ...before,
    description: params.string('description') ?? before.description,
    email: emailOf(params) ?? before.email,
    name: params.string('name') ?? before.name ?? null,
    // An empty value removes its key (docs.stripe.com/api/metadata).
    metadata: Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== '')),
    invoice_settings: {
      ...before.invoice_settings,
      default_payment_method: method ?? before.invoice_settings.default_payment_method,
    },
  };
  world.store.put('customers', after);
  world.emit('customer.updated', after, changedFields(before, after));
  return after;
}

/** Its cards can't be charged any more; what they paid stays. */
function deleteCustomer({ world, id }: Call): Stripe.DeletedCustomer {
  const customer = getCustomer(world, id);
  for (const method of world.store.list('payment_methods').filter((one) => idOf(one.customer) === id)) {
    const record = world.store.find('cards', method.id);
    if (record !== undefined) world.store.put('cards', { ...record, spent: true });
    const detached = world.store.put('payment_methods', { ...method, customer: null });
    world.emit('payment_method.detached', detached, { customer: id });
  }
  world.store.remove('customers', id);
  world.emit('customer.deleted', customer);
  return { id, object: 'customer', deleted: true };
}

/** One that was deleted is told of as such, for good (docs.stripe.com/api/customers/retrieve). */
function retrieveCustomer({ world, id }: Call): Stripe.Customer | Stripe.DeletedCustomer {
  const isDeleted = world.store
    .list('events')
    .some(({ type, data }) => type === 'customer.deleted' && (data.object as Stripe.Customer).id === id);
  return isDeleted ? { id, object: 'customer', deleted: true } : getCustomer(world, id);
}

function emailOf(params: Params): string | undefined {
  const email = params.string('email', 512);
  if (email !== undefined && !/^[^\s@]+@[^\s@]+$/.test(email)) {
    throw invalidRequest(`${email} is not an e-mail address.`, { code: 'email_invalid', param: 'email' });
  }
  return email;
}

/** The old values of the changed fields, as an event's previous_attributes show them. */
export function changedFields<T extends object>(before: T, after: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(before).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(after[key as keyof T]),
    ),
  ) as Partial<T>;
}

function listCustomers(call: Call): object {
  const email = call.params.string('email');
  const customers = call.world.store
    .list('customers')
    .filter((customer) => email === undefined || customer.email === email);
  return page(call, customers);
}

export const customerEndpoints: readonly Endpoint[] = [
  { method: 'post', path: '/customers', handle: createCustomer },
  { method: 'get', path: '/customers', handle: listCustomers },
  { method: 'get', path: '/customers/:id', handle: retrieveCustomer },
  { method: 'post', path: '/customers/:id', handle: updateCustomer },
  { method: 'delete', path: '/customers/:id', handle: deleteCustomer },
];
