import {
  cents,
  count,
  exampleId,
  idOf,
  instant,
  named,
  object,
  oneOf,
  orNull,
  text,
  url,
  type JsonSchema,
  type ValueOf,
} from '../http/openapi/json-schema.js';
import { idParameter, operation, type Operation } from '../http/openapi/operation.js';
import { invoiceReason, invoiceStatus } from '../invoices/describe.js';
import { rentalStatus, stopReason } from '../rentals/describe.js';
import { topupSource } from '../topups/describe.js';
import { ledgerEntryType } from './describe.js';

const maybeText = orNull(text);
const maybeInstant = orNull(instant);
const formula: JsonSchema = {
  type: 'string',
  description: 'The calculation, with its numbers.',
};

const entry = named(
  'ExplainedEntry',
  object({
    id: idOf('led'),
    type: ledgerEntryType,
    amountCents: cents('Signed.'),
    balanceBeforeCents: cents('The wallet’s total right before this entry.'),
    balanceAfterCents: cents('The wallet’s total right after it.'),
    createdAt: instant,
    rentalId: orNull(idOf('rent')),
    processorChargeId: maybeText,
  }),
);

const charge = named(
  'ExplainedCharge',
  object({
    occasion: oneOf(['tick', 'settlement', 'capture']),
    pricePerHourCents: cents('The rate.'),
    runningAt: orNull(instant, 'From then on it is billed.'),
    from: orNull(instant, 'What came before is in the entries before.'),
    until: maybeInstant,
    untilWas: orNull(
      oneOf(['clock', 'stop_requested', 'auto_stop', 'spend_limit', 'ended']),
      'What ended the interval.',
    ),
    elapsedMs: { ...count, description: 'From runningAt to until.' },
    accruedCents: cents('The total cost of elapsedMs.'),
    chargedBeforeCents: cents('By the rental’s entries before this one.'),
    dueCents: cents('The difference.'),
    amountCents: cents('What was taken of it, as a positive number.'),
    unpaidCents: cents('What your balance did not cover.'),
    formula,
  }),
);

const rentalRefund = named(
  'ExplainedRentalRefund',
  object({
    chargedCents: cents('All that was charged before.'),
    finalCents: cents('What it costs after all.'),
    refundedCents: cents('The difference.'),
    billedMs: { ...count, description: 'The time that is billed after all.' },
    formula,
  }),
);

const rental = named(
  'ExplainedRental',
  object({
    id: idOf('rent'),
    status: rentalStatus,
    family: { ...text, description: 'What people call it by.' },
    model: text,
    gpuCount: count,
    provider: text,
    startedAt: instant,
    runningAt: maybeInstant,
    stoppedAt: maybeInstant,
    terminatedAt: maybeInstant,
    stopReason: orNull(stopReason),
    error: maybeText,
  }),
);

const payment = named(
  'ExplainedPayment',
  object({
    paymentId: maybeText,
    chargeId: maybeText,
    sessionId: maybeText,
    topupId: orNull(idOf('top')),
    source: orNull(topupSource),
    receiptUrl: orNull(url),
  }),
);

const reversal = named(
  'ExplainedReversal',
  object({
    id: text,
    kind: oneOf(['refund', 'dispute']),
    status: text,
    paymentId: text,
    amountCents: cents('What the processor says it is about.'),
    debitedCents: cents('Taken from the wallet.'),
    invoicedCents: cents('Taken by an invoice.'),
    writtenOffCents: cents('Too little for an invoice.'),
    takenAt: maybeInstant,
    givenBackAt: maybeInstant,
  }),
);

const invoice = named(
  'ExplainedInvoice',
  object({
    id: idOf('inv'),
    reason: invoiceReason,
    status: invoiceStatus,
    amountCents: cents('Of the invoice.'),
    paidAt: maybeInstant,
    receiptUrl: orNull(url),
    voidReason: maybeText,
  }),
);

const byHand = named(
  'ExplainedByHand',
  object({ operationId: idOf('op'), kind: text, reason: text, doneAt: instant }),
);

const explanation = named(
  'Explanation',
  object({
    entry,
    why: { ...text, description: 'One sentence.' },
    charge: orNull(charge, 'How a rental_charge came about.'),
    rentalRefund: orNull(rentalRefund, 'How the automatic refund of a rental came about.'),
    rental: orNull(rental),
    payment: orNull(payment),
    reversal: orNull(reversal, 'A refund or dispute at the payment processor.'),
    invoice: orNull(invoice),
    byHand: orNull(byHand, 'What an operator did.'),
  }),
);

const example: ValueOf<typeof explanation> = {
  entry: {
    id: exampleId('led'),
    type: 'rental_charge',
    amountCents: -1,
    balanceBeforeCents: 2_000,
    balanceAfterCents: 1_999,
    createdAt: '2026-11-01T09:32:03.250Z',
    rentalId: exampleId('rent'),
    processorChargeId: null,
  },
  why: `$0.01 was taken from your wallet: 1 × RTX 4090 (${exampleId('rent')}) ran at $3.60 an hour from 2026-11-01T09:31:53.250Z until 2026-11-01T09:32:03.250Z.`,
  charge: {
    occasion: 'tick',
    pricePerHourCents: 360,
    runningAt: '2026-11-01T09:31:53.250Z',
    from: '2026-11-01T09:31:53.250Z',
    until: '2026-11-01T09:32:03.250Z',
    untilWas: 'clock',
    elapsedMs: 10_000,
    accruedCents: 1,
    chargedBeforeCents: 0,
    dueCents: 1,
    amountCents: 1,
    unpaidCents: 0,
    formula: 'floor(360 cents/h x 10000 ms / 3600000 ms/h = 1.0000) = 1; 1 - 0 charged before = 1',
  },
  rentalRefund: null,
  rental: {
    id: exampleId('rent'),
    status: 'running',
    family: 'rtx-4090',
    model: 'RTX_4090',
    gpuCount: 1,
    provider: 'shadeform',
    startedAt: '2026-11-01T09:31:20.000Z',
    runningAt: '2026-11-01T09:31:53.250Z',
    stoppedAt: null,
    terminatedAt: null,
    stopReason: null,
    error: null,
  },
  payment: null,
  reversal: null,
  invoice: null,
  byHand: null,
};

export const explainLedgerEntry = operation({
  method: 'get',
  path: '/v1/billing/ledger/:id/explain',
  scope: 'billing',
  name: 'explainLedgerEntry',
  tag: 'Wallet',
  summary: 'Explains a ledger entry',
  description:
    'The calculation with its numbers, and the documents behind it. Fields that do not apply are null.',
  parameters: [idParameter('led', 'a ledger entry', exampleId('led'))],
  answers: [{ description: 'The explanation.', schema: explanation, examples: [example] }],
  refusals: ['not_found'],
});

export const explainOperations: readonly Operation[] = [explainLedgerEntry];
