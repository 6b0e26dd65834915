import type Stripe from 'stripe';
import { getCustomer } from '../customers.js';
import type { Call, Endpoint, World } from '../http/endpoint.js';
import { invalidRequest } from '../http/errors.js';
import { idOf } from '../ids.js';
import { addItems, getInvoice, pendingItems, requireDraft } from './invoice-items.js';
import { dropPayments, finalizeInvoice, payInvoice } from './invoice-payments.js';
import { blankInvoice } from './invoice-shape.js';
import { page } from '../http/listing.js';
import type { Params } from '../http/params.js';
import { requireCurrency } from '../payments/payment-intents.js';

const dayS = 24 * 3600;
const collectionMethods = ['charge_automatically', 'send_invoice'] as const;

/** Makes a draft. The lab never advances it by itself: its maker finalizes it. */
function create({ world, params }: Call): Stripe.Invoice {
  const customer = getCustomer(world, params.requiredString('customer'), 'customer');
  const method = params.oneOf('collection_method', collectionMethods) ?? 'charge_automatically';
  const items = params.oneOf('pending_invoice_items_behavior', ['exclude', 'include']) ?? 'exclude';
  if (params.string('currency') !== undefined) requireCurrency(params);
  const draft = world.store.put('invoices', {
    ...blankInvoice(world, customer),
    ...changesOf(params),
    collection_method: method,
    due_date: dueDateOf(world, params, method),
    metadata: params.metadata(),
  });
  const invoice = items === 'include' ? addItems(world, draft, pendingItems(world, customer.id)) : draft;
  world.emit('invoice.created', invoice);
  return invoice;
}

/** The fields that a draft's creation and its update share. */
function changesOf(params: Params): Partial<Stripe.Invoice> {
  const autoAdvance = params.boolean('auto_advance');
  const description = params.string('description');
  const footer = params.string('footer');
  const methodId = params.string('default_payment_method');
  return {
    ...(autoAdvance === undefined ? {} : { auto_advance: autoAdvance }),
    ...(description === undefined ? {} : { description }),
    ...(footer === undefined ? {} : { footer }),
    ...(methodId === undefined ? {} : { default_payment_method: methodId }),
  };
}

/** @throws ApiError when an invoice that is sent has no date, or one that is charged has one */
function dueDateOf(world: World, params: Params, method: (typeof collectionMethods)[number]): number | null {
  const days = params.integer('days_until_due', 0, 3650);
  const at = params.integer('due_date', world.now(), Number.MAX_SAFE_INTEGER);
  const due = at ?? (days === undefined ? null : world.now() + days * dayS);
  if (method === 'send_invoice' && due === null) {
    throw invalidRequest('An invoice that is sent needs days_until_due or due_date.', {
      code: 'parameter_missing',
      param: 'days_until_due',
    });
  }
  if (method === 'charge_automatically' && due !== null) {
    throw invalidRequest('Only an invoice with collection_method=send_invoice has a due date.', {
      param: 'days_until_due',
    });
  }
  return due;
}

function update({ world, params, id }: Call): Stripe.Invoice {
  const before = getInvoice(world, id);
  const metadata = { ...before.metadata, ...params.metadata() };
  const changes = changesOf(params);
  const { auto_advance: autoAdvance, ...texts } = changes;
  if (Object.keys(texts).length > 0) requireDraft(before);
  const after = world.store.put('invoices', {
    ...before,
    ...changes,
    auto_advance: autoAdvance ?? before.auto_advance ?? false,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== '')),
  });
  world.emit('invoice.updated', after);
  return after;
}

function remove({ world, id }: Call): object {
  const invoice = getInvoice(world, id);
  requireDraft(invoice);
  for (const item of world.store.list('invoice_items')) {
    if (item.invoice === id) world.store.remove('invoice_items', item.id);
  }
  world.store.remove('invoices', id);
  world.emit('invoice.deleted', invoice);
  return { id, object: 'invoice', deleted: true };
}

function finalize({ world, params, id }: Call): Stripe.Invoice {
  const autoAdvance = params.boolean('auto_advance');
  const draft = getInvoice(world, id);
  return finalizeInvoice(world, autoAdvance === undefined ? draft : { ...draft, auto_advance: autoAdvance });
}

/** Mails nothing here: the event stands for the mail. */
function send({ world, id }: Call): Stripe.Invoice {
  const found = getInvoice(world, id);
  if (found.collection_method !== 'send_invoice') {
    throw invalidRequest('Only an invoice with collection_method=send_invoice can be sent.');
  }
  const invoice = found.status === 'draft' ? finalizeInvoice(world, found) : found;
  if (invoice.status !== 'open' && invoice.status !== 'paid') throw wrongState(invoice, 'sent');
  world.emit('invoice.sent', invoice);
  return invoice;
}

function voidInvoice({ world, id }: Call): Stripe.Invoice {
  const invoice = getInvoice(world, id);
  if (invoice.status !== 'open' && invoice.status !== 'uncollectible') throw wrongState(invoice, 'voided');
  dropPayments(world, id);
  return change(world, invoice, 'void', 'voided_at', 'invoice.voided');
}

function markUncollectible({ world, id }: Call): Stripe.Invoice {
  const invoice = getInvoice(world, id);
  if (invoice.status !== 'open') throw wrongState(invoice, 'marked uncollectible');
  return change(world, invoice, 'uncollectible', 'marked_uncollectible_at', 'invoice.marked_uncollectible');
}

function change(
  world: World,
  invoice: Stripe.Invoice,
  status: 'uncollectible' | 'void',
  at: keyof Stripe.Invoice.StatusTransitions,
  event: Stripe.Event.Type,
): Stripe.Invoice {
  const changed = world.store.put('invoices', {
    ...invoice,
    status,
    auto_advance: false,
    status_transitions: { ...invoice.status_transitions, [at]: world.now() },
  });
  world.emit(event, changed);
  return changed;
}

function wrongState(invoice: Stripe.Invoice, wanted: string): Error {
  return invalidRequest(`An invoice that is ${String(invoice.status)} can’t be ${wanted}.`, {
    code: 'invoice_not_editable',
  });
}

function list(call: Call): object {
  const customer = call.params.string('customer');
  const method = call.params.oneOf('collection_method', collectionMethods);
  const status = call.params.oneOf('status', ['draft', 'open', 'paid', 'uncollectible', 'void']);
  const invoices = call.world.store
    .list('invoices')
    .filter((invoice) => customer === undefined || idOf(invoice.customer) === customer)
    .filter((invoice) => method === undefined || invoice.collection_method === method)
    .filter((invoice) => status === undefined || invoice.status === status);
  return page(call, invoices);
}

export const invoiceEndpoints: readonly Endpoint[] = [
  { method: 'post', path: '/invoices', handle: create },
  { method: 'get', path: '/invoices', handle: list },
  { method: 'get', path: '/invoices/:id', handle: ({ world, id }) => getInvoice(world, id) },
  { method: 'post', path: '/invoices/:id', handle: update },
  { method: 'delete', path: '/invoices/:id', handle: remove },
  { method: 'post', path: '/invoices/:id/finalize', handle: finalize },
  { method: 'post', path: '/invoices/:id/pay', handle: payInvoice },
  { method: 'post', path: '/invoices/:id/send', handle: send },
  { method: 'post', path: '/invoices/:id/void', handle: voidInvoice },
  { method: 'post', path: '/invoices/:id/mark_uncollectible', handle: markUncollectible },
];
