import type Stripe from 'stripe';
import {
  ProcessorError,
  type InvoiceInput,
  type ProcessorInvoice,
  type ProcessorInvoices,
} from './processor.js';
import { idOf, requireText } from './stripe-answers.js';
import type { StripeCalls } from './stripe-calls.js';

/** An invoice names its payments, and no charge (docs.stripe.com/changelog, 2025-03-31.basil). */
const expand = ['payments.data.payment.payment_intent'];

const pageSize = 100;
/** How many of a customer's invoices a lookup goes through; they are made since one instant, newest first. */
const lookupLimit = 1000;

/** The mirrors of our invoices (decision 35). */
export function createStripeInvoices({ stripe, asked }: StripeCalls): ProcessorInvoices {
  const getInvoice: ProcessorInvoices['getInvoice'] = async (id) =>
    invoiceOf(await asked(() => stripe.invoices.retrieve(id, { expand })));

  /** Changes an invoice; one whose state has moved on meanwhile is answered as it is. */
  async function move(id: string, change: () => Promise<Stripe.Invoice>): Promise<ProcessorInvoice> {
    try {
      return invoiceOf(await asked(change));
    } catch (error) {
      if (isRefused(error)) return getInvoice(id);
      throw error;
    }
  }

  return {
    getInvoice,
    createInvoice: async (input) => {
      const key = { idempotencyKey: `invoice:${input.invoiceId}` };
      const draft = await asked(() => stripe.invoices.create(draftParams(input), key));
      const id = requireText(draft.id, 'the invoice’s id');
      for (const line of input.lines) {
        await asked(() =>
          stripe.invoiceItems.create(itemParams(input, id, line), {
            idempotencyKey: `invoice-item:${line.lineId}`,
          }),
        );
      }
      // The first answer is repeated for a day whatever has become of it: what counts is how it is now.
      return getInvoice(id);
    },
    findInvoice: async ({ customerId, invoiceId, createdFrom }) => {
      // The list is consistent at once; the search may lag by a minute and is not offered everywhere.
      const invoices = await asked(() =>
        stripe.invoices
          .list({
            customer: customerId,
            created: { gte: Math.floor(createdFrom.getTime() / 1000) },
            limit: pageSize,
          })
          .autoPagingToArray({ limit: lookupLimit }),
      );
      const found = invoices.find(({ metadata }) => metadata?.['invoice_id'] === invoiceId);
      return found === undefined ? null : getInvoice(requireText(found.id, 'the invoice’s id'));
    },
    finalizeInvoice: (id) =>
      move(id, () =>
        stripe.invoices.finalizeInvoice(
          id,
          { auto_advance: false, expand },
          { idempotencyKey: `finalize:${id}` },
        ),
      ),
    voidInvoice: async (id) => {
      try {
        const before = await getInvoice(id);
        if (before.status === 'draft') {
          await asked(() => stripe.invoices.del(id, {}, { idempotencyKey: `delete:${id}` }));
          return { ...before, status: 'void' };
        }
        return await move(id, () =>
          stripe.invoices.voidInvoice(id, { expand }, { idempotencyKey: `void:${id}` }),
        );
      } catch (error) {
        // A draft that was deleted can't be read any more.
        if (isRefused(error) && error.details.code === 'resource_missing') return deleted(id);
        throw error;
      }
    },
    writeOffInvoice: (id) =>
      move(id, () =>
        stripe.invoices.markUncollectible(id, { expand }, { idempotencyKey: `write-off:${id}` }),
      ),
  };
}

/** Nothing is advanced, charged or mailed by the processor: the service does it itself, once (decision 35). */
function draftParams(input: InvoiceInput): Stripe.InvoiceCreateParams {
  return {
    customer: input.customerId,
    currency: 'usd',
    collection_method: 'send_invoice',
    days_until_due: input.daysUntilDue,
    auto_advance: false,
    pending_invoice_items_behavior: 'exclude',
    metadata: { invoice_id: input.invoiceId, user_id: input.userId },
  };
}

function itemParams(
  input: InvoiceInput,
  invoice: string,
  line: InvoiceInput['lines'][number],
): Stripe.InvoiceItemCreateParams {
  return {
    customer: input.customerId,
    invoice,
    currency: 'usd',
    amount: line.amountCents,
    description: line.description,
    metadata: { line_id: line.lineId },
  };
}

function invoiceOf(invoice: Stripe.Invoice): ProcessorInvoice {
  const paidAt = invoice.status_transitions.paid_at;
  return {
    processorInvoiceId: requireText(invoice.id, 'the invoice’s id'),
    status: statusOf(invoice.status),
    totalCents: invoice.total,
    amountPaidCents: invoice.amount_paid,
    currency: invoice.currency,
    hostedInvoiceUrl: invoice.hosted_invoice_url ?? null,
    invoicePdfUrl: invoice.invoice_pdf ?? null,
    paymentId: paymentIdOf(invoice),
    paidAt: paidAt === null ? null : new Date(paidAt * 1000),
    customerId: idOf(invoice.customer),
    invoiceId: invoice.metadata?.['invoice_id'] ?? null,
  };
}

const statuses = ['draft', 'open', 'paid', 'void', 'uncollectible'] as const;

function statusOf(status: string | null): ProcessorInvoice['status'] {
  const known = statuses.find((candidate) => candidate === status);
  if (known === undefined)
    throw new ProcessorError('unknown', `The processor told of an invoice that is ${String(status)}.`);
  return known;
}

/** The payment that settled it. Out of band nothing was charged, and none of them is paid. */
function paymentIdOf(invoice: Stripe.Invoice): string | null {
  const paid = invoice.payments?.data.find(({ status }) => status === 'paid');
  return idOf(paid?.payment.payment_intent ?? null);
}

function deleted(processorInvoiceId: string): ProcessorInvoice {
  return {
    ...{ processorInvoiceId, status: 'void', totalCents: 0, amountPaidCents: 0, currency: 'usd' },
    ...{ hostedInvoiceUrl: null, invoicePdfUrl: null, paymentId: null, paidAt: null },
    ...{ customerId: null, invoiceId: null },
  };
}

function isRefused(error: unknown): error is ProcessorError {
  return error instanceof ProcessorError && error.kind === 'refused';
}
