import type Stripe from 'stripe';
import { getCustomer } from '../customers.js';
import type { Call, Endpoint, World } from '../http/endpoint.js';
import { invalidRequest, noSuch } from '../http/errors.js';
import { newId } from '../ids.js';
import { lineOf } from './invoice-shape.js';
import { page, type List } from '../http/listing.js';
import { maximumCents, requireCurrency } from '../payments/payment-intents.js';
import type { InvoiceItemRow } from '../tables.js';

/** @throws ApiError `resource_missing` */
export function getInvoice(world: World, id: string, param?: string): Stripe.Invoice {
  const invoice = world.store.find('invoices', id);
  if (invoice === undefined) throw noSuch('invoice', id, param);
  return invoice;
}

/** @throws ApiError when it is not a draft any more */
export function requireDraft(invoice: Stripe.Invoice): void {
  if (invoice.status === 'draft') return;
  throw invalidRequest(`An invoice that is ${String(invoice.status)} can’t be changed any more.`, {
    code: 'invoice_not_editable',
  });
}

/** Puts items on a draft and updates its amounts. */
export function addItems(
  world: World,
  invoice: Stripe.Invoice,
  items: readonly InvoiceItemRow[],
): Stripe.Invoice {
  const added = items.map((item) => world.store.put('invoice_items', { ...item, invoice: invoice.id }));
  const data = [...invoice.lines.data, ...added.map((item) => lineOf(item, invoice.id))];
  return withLines(world, invoice, data);
}

function withLines(world: World, invoice: Stripe.Invoice, data: Stripe.InvoiceLineItem[]): Stripe.Invoice {
  const total = data.reduce((sum, line) => sum + line.amount, 0);
  const due = Math.max(0, total);
  return world.store.put('invoices', {
    ...invoice,
    lines: { ...invoice.lines, data },
    subtotal: total,
    subtotal_excluding_tax: total,
    total,
    total_excluding_tax: total,
    amount_due: due,
    amount_remaining: due,
  });
}

/** Items of a customer that are on no invoice yet. */
export function pendingItems(world: World, customerId: string): InvoiceItemRow[] {
  return world.store
    .list('invoice_items')
    .filter((item) => item.customer === customerId && item.invoice === null);
}

function create({ world, params }: Call): InvoiceItemRow {
  const customer = getCustomer(world, params.requiredString('customer'), 'customer');
  const invoiceId = params.string('invoice');
  const item: InvoiceItemRow = {
    id: newId('ii'),
    object: 'invoiceitem',
    amount: params.requiredInteger('amount', -maximumCents, maximumCents),
    currency: requireCurrency(params),
    customer: customer.id,
    customer_account: null,
    date: world.now(),
    description: params.stringOrNull('description'),
    discountable: false,
    discounts: [],
    invoice: null,
    livemode: false,
    metadata: params.metadata(),
    parent: null,
    period: { start: world.now(), end: world.now() },
    pricing: null,
    proration: false,
    quantity: 1,
    quantity_decimal: '1',
    tax_rates: [],
    test_clock: null,
  };
  if (invoiceId === undefined) world.store.put('invoice_items', item);
  else addItems(world, draftOf(world, invoiceId, customer.id), [item]);
  const kept = getItem(world, item.id);
  world.emit('invoiceitem.created', kept);
  return kept;
}

function draftOf(world: World, invoiceId: string, customerId: string): Stripe.Invoice {
  const invoice = getInvoice(world, invoiceId, 'invoice');
  requireDraft(invoice);
  if (invoice.customer === customerId) return invoice;
  throw invalidRequest(`Invoice ${invoiceId} belongs to another customer.`, { param: 'invoice' });
}

function getItem(world: World, id: string): InvoiceItemRow {
  const item = world.store.find('invoice_items', id);
  if (item === undefined) throw noSuch('invoiceitem', id);
  return item;
}

function remove({ world, id }: Call): object {
  const item = getItem(world, id);
  if (item.invoice !== null) {
    const invoice = getInvoice(world, item.invoice);
    requireDraft(invoice);
    const line = lineOf(item, invoice.id).id;
    withLines(
      world,
      invoice,
      invoice.lines.data.filter((candidate) => candidate.id !== line),
    );
  }
  world.store.remove('invoice_items', id);
  world.emit('invoiceitem.deleted', item);
  return { id, object: 'invoiceitem', deleted: true };
}

function list(call: Call): object {
  const customer = call.params.string('customer');
  const invoice = call.params.string('invoice');
  const pending = call.params.boolean('pending');
  const items = call.world.store
    .list('invoice_items')
    .filter((item) => customer === undefined || item.customer === customer)
    .filter((item) => invoice === undefined || item.invoice === invoice)
    .filter((item) => pending === undefined || (item.invoice === null) === pending)
    .map((item) => ({ ...item, created: item.date }));
  return withoutCreated(page(call, items));
}

/** Items are paged by their `date`; the processor's have no `created`. */
function withoutCreated(listed: List): List {
  return {
    ...listed,
    data: listed.data.map((item) =>
      Object.fromEntries(Object.entries(item).filter(([name]) => name !== 'created')),
    ),
  };
}

export const invoiceItemEndpoints: readonly Endpoint[] = [
  { method: 'post', path: '/invoiceitems', handle: create },
  { method: 'get', path: '/invoiceitems', handle: list },
  { method: 'get', path: '/invoiceitems/:id', handle: ({ world, id }) => getItem(world, id) },
  { method: 'delete', path: '/invoiceitems/:id', handle: remove },
];
