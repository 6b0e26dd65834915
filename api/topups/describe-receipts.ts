import { billingDetailsMax } from '../../domain/payments/receipt.js';
import { fields, joi, nullable, orElse } from '../http/fields.js';
import { exampleId, named, object, orNull, text, type ValueOf } from '../http/openapi/json-schema.js';
import { idParameter, operation } from '../http/openapi/operation.js';

const { name, address, taxId } = billingDetailsMax;

const said = (schema: ReturnType<typeof joi.text>, most: number) =>
  orElse(nullable(schema.allow('').maxChars(most)), null);

export const billingDetailsSchema = fields({
  name: said(joi.text(), name),
  address: said(joi.lines(), address),
  taxId: said(joi.text(), taxId),
});

const details = named(
  'BillingDetails',
  object({
    name: orNull(text, 'Your company’s name, or your own.'),
    address: orNull(text, 'Of several lines.'),
    taxId: orNull(text, 'Such as a VAT number.'),
  }),
);

const example: ValueOf<typeof details> = {
  name: 'Example Ltd',
  address: '1 High Street\nLondon\nUnited Kingdom',
  taxId: 'GB123456789',
};
const none: typeof example = { name: null, address: null, taxId: null };

const tag = 'Payments';
const path = '/v1/billing/details';

export const showBillingDetails = operation({
  method: 'get',
  path,
  scope: 'billing',
  name: 'showBillingDetails',
  tag,
  summary: 'Billing details for statements and receipts',
  answers: [
    { description: 'The details; null is what was not said.', schema: details, examples: [example, none] },
  ],
});

export const putBillingDetails = operation({
  method: 'put',
  path,
  name: 'putBillingDetails',
  tag,
  summary: 'Sets the billing details for statements and receipts',
  description:
    'What you leave out is removed. A receipt keeps the details that you had when you paid; one of a time without any shows those of now.',
  body: { schema: billingDetailsSchema, examples: [example, {}] },
  answers: [{ description: 'As they are stored.', schema: details, examples: [example, none] }],
});

export const downloadReceipt = operation({
  method: 'get',
  path: '/v1/billing/topups/:id/receipt',
  scope: 'billing',
  name: 'downloadReceipt',
  tag,
  summary: 'The receipt of a top-up, as a PDF',
  description: 'We email it too. It shows refunds and disputes to date. A top-up that was not paid has none.',
  parameters: [idParameter('top', 'a top-up', exampleId('top'))],
  answers: [
    {
      description: 'The file.',
      type: 'application/pdf',
      schema: { type: 'string', contentMediaType: 'application/pdf' },
      examples: ['%PDF-1.7 …'],
      headers: { 'Content-Disposition': text },
    },
  ],
  refusals: ['topup_not_found', 'session_required'],
});
