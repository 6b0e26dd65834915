import { fields, idField, pageFields, wordOf } from '../http/fields.js';
import {
  cents,
  exampleId,
  idOf,
  instant,
  listOf,
  named,
  object,
  oneOf,
  orNull,
  text,
  url,
  type ValueOf,
} from '../http/openapi/json-schema.js';
import { idParameter, leadsTo, operation, type Operation } from '../http/openapi/operation.js';
import { invoiceReasons, invoiceStatuses, listedStatuses } from '../../domain/payments/invoices.js';

export const invoicesQuery = fields({
  status: wordOf(listedStatuses),
  limit: pageFields.pageSize,
  before: idField('inv').description('Only invoices older than this one.'),
});

const tag = 'Invoices';
const id = exampleId('inv');
const invoiceId = idParameter('inv', 'an invoice', id);

export const invoiceStatus = named('InvoiceStatus', oneOf(invoiceStatuses));
export const invoiceReason = named('InvoiceReason', oneOf(invoiceReasons));

const line = named(
  'InvoiceLine',
  object({
    id: idOf('li'),
    description: text,
    amountCents: cents('Signed.'),
    rentalId: orNull(idOf('rent')),
    periodStart: orNull(instant),
    periodEnd: orNull(instant),
  }),
);

const invoice = named(
  'Invoice',
  object({
    id: idOf('inv'),
    status: invoiceStatus,
    reason: invoiceReason,
    amountCents: cents('How much it asks for.'),
    currency: oneOf(['USD']),
    rentalId: orNull(idOf('rent')),
    processorInvoiceId: orNull(text),
    hostedInvoiceUrl: orNull(url, 'May change: ask for the pay-url right before it is opened.'),
    invoicePdfUrl: orNull(url),
    receiptUrl: orNull(url, 'Of paid ones.'),
    createdAt: instant,
    dueAt: orNull(instant),
    paidAt: orNull(instant),
    voidedAt: orNull(instant),
    lineItems: listOf(line),
  }),
);

const example: ValueOf<typeof invoice> = {
  id,
  status: 'open',
  reason: 'overage',
  amountCents: 120,
  currency: 'USD',
  rentalId: exampleId('rent'),
  processorInvoiceId: 'in_1',
  hostedInvoiceUrl: 'https://pay.example.com/i/1',
  invoicePdfUrl: 'https://pay.example.com/i/1.pdf',
  receiptUrl: null,
  createdAt: '2026-11-01T09:00:00.000Z',
  dueAt: '2026-11-08T09:00:00.000Z',
  paidAt: null,
  voidedAt: null,
  lineItems: [
    {
      id: exampleId('li'),
      description: 'Usage beyond the wallet',
      amountCents: 120,
      rentalId: exampleId('rent'),
      periodStart: null,
      periodEnd: null,
    },
  ],
};

export const listInvoices = operation({
  method: 'get',
  path: '/v1/billing/invoices',
  scope: 'billing',
  name: 'listInvoices',
  tag,
  summary: 'Your invoices, newest first',
  description: 'Drafts are left out.',
  query: invoicesQuery,
  answers: [
    {
      description: 'The newest ones. For older ones send the last id as `before`.',
      schema: object({ data: listOf(invoice) }),
      examples: [{ data: [example] }],
      links: leadsTo('/data/0/id', ['showInvoice', 'showPayUrl']),
    },
  ],
  refusals: ['invoice_not_found'],
});

export const showInvoice = operation({
  method: 'get',
  path: '/v1/billing/invoices/:id',
  scope: 'billing',
  name: 'showInvoice',
  tag,
  summary: 'One invoice',
  parameters: [invoiceId],
  answers: [{ description: 'The invoice.', schema: invoice, examples: [example] }],
  refusals: ['invoice_not_found'],
});

export const showPayUrl = operation({
  method: 'get',
  path: '/v1/billing/invoices/:id/pay-url',
  scope: 'billing',
  name: 'showPayUrl',
  tag,
  summary: 'The page on which an invoice can be paid',
  description: 'As the processor has it now.',
  parameters: [invoiceId],
  answers: [
    {
      description: 'The page; null when there is nothing to pay.',
      schema: named('PayUrl', object({ url: orNull(url) })),
      examples: [{ url: 'https://pay.example.com/i/1' }, { url: null }],
    },
  ],
  refusals: ['invoice_not_found'],
});

export const invoiceOperations: readonly Operation[] = [listInvoices, showInvoice, showPayUrl];
