import { invalidRequest } from './errors.js';
import type { World } from './endpoint.js';
import type { TableName } from '../tables.js';

/** The fields that hold an id and can be expanded to the object, by the kind of object. */
const expandable: Record<string, Record<string, TableName>> = {
  'checkout.session': {
    customer: 'customers',
    payment_intent: 'payment_intents',
    setup_intent: 'setup_intents',
  },
  payment_intent: { customer: 'customers', payment_method: 'payment_methods', latest_charge: 'charges' },
  setup_intent: { customer: 'customers', payment_method: 'payment_methods' },
  charge: { customer: 'customers', payment_intent: 'payment_intents' },
  payment_method: { customer: 'customers' },
  refund: { charge: 'charges', payment_intent: 'payment_intents' },
  dispute: { charge: 'charges', payment_intent: 'payment_intents' },
  invoice: { customer: 'customers', default_payment_method: 'payment_methods' },
  invoice_payment: { invoice: 'invoices' },
  'invoice_payment.payment': { payment_intent: 'payment_intents', charge: 'charges' },
};

/** docs.stripe.com/expand: "a maximum depth of four levels". */
const depthLimit = 4;

/**
 * Returns a copy of an object with the named fields expanded; in a list, paths begin with `data`.
 * @throws ApiError for a path that is too deep or names a field that can't be expanded
 */
export function expand(world: World, object: object, paths: readonly string[]): object {
  let expanded = object;
  for (const path of paths) {
    const steps = path.split('.');
    if (steps.length > depthLimit) {
      throw invalidRequest(`${path} is deeper than ${depthLimit} levels, the most that can be expanded.`, {
        param: 'expand',
      });
    }
    expanded = expandPath(world, expanded, steps, path);
  }
  return expanded;
}

function expandPath(world: World, object: object, steps: readonly string[], path: string): object {
  const [step, ...rest] = steps;
  if (step === undefined) return object;
  const fields = object as Record<string, unknown>;
  if (step === 'data' && Array.isArray(fields['data'])) {
    const data = fields['data'] as object[];
    return { ...object, data: data.map((item) => expandPath(world, item, rest, path)) };
  }
  const kind = String(fields['object']);
  if (kind === 'invoice' && step === 'payments') {
    return { ...object, payments: expandPath(world, paymentList(world, String(fields['id'])), rest, path) };
  }
  if (kind === 'invoice_payment' && step === 'payment') {
    const payment = { ...(fields['payment'] as object), object: 'invoice_payment.payment' };
    return { ...object, payment: without(expandPath(world, payment, rest, path), 'object') };
  }
  return expandField(world, object, expandable[kind]?.[step], [step, ...rest], path);
}

function expandField(
  world: World,
  object: object,
  table: TableName | undefined,
  [step, ...rest]: readonly [string, ...string[]],
  path: string,
): object {
  if (table === undefined) {
    throw invalidRequest(`This property can’t be expanded (${path}).`, { param: 'expand' });
  }
  const value = (object as Record<string, unknown>)[step];
  if (value === null || value === undefined) return object;
  const target = typeof value === 'string' ? world.store.find(table, value) : value;
  return target === undefined ? object : { ...object, [step]: expandPath(world, target, rest, path) };
}

/** An invoice shows its payments only where a request asks for them (docs.stripe.com/api/invoices/object). */
function paymentList(world: World, invoiceId: string): object {
  const payments = world.store.list('invoice_payments').filter(({ invoice }) => invoice === invoiceId);
  return {
    object: 'list',
    data: payments,
    has_more: false,
    url: `/v1/invoice_payments?invoice=${invoiceId}`,
  };
}

function without(object: object, name: string): object {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}
