import type Stripe from 'stripe';
import { invoiceStatuses, unsettledStatuses } from '../../domain/payments/invoices.js';
import {
  ProcessorError,
  saidNo,
  type InvoiceInput,
  type ProcessorInvoice,
  type ProcessorInvoices,
} from './processor.js';
import { idOf, requireText } from './stripe-answers.js';
import { attemptKey, type StripeCalls } from './stripe-calls.js';

/** An invoice names its payments, and no charge (docs.stripe.com/changelog, 2025-03-31.basil). */
const expand = ['payments.data.payment.payment_intent'];

const pageSize = 100;
/** The most invoices of a customer that a lookup reads; they are made since one instant, newest first. */
const lookupLimit = 1000;

/** The calls for the mirrors of our invoices (decision 35, "Invoices and reminders"). */
export function createStripeInvoices(calls: StripeCalls): ProcessorInvoices {
  const { stripe, asked } = calls;
  const getInvoice: GetInvoice = async (id) =>
    invoiceOf(await asked(() => stripe.invoices.retrieve(id, { expand })));
  return {
    getInvoice,
    ...createMoves(calls, getInvoice),
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
      // The first answer is repeated for a day, whatever happened since: only the present state counts.
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
      if (found === undefined) return null;
      const invoice = await getInvoice(requireText(found.id, 'the invoice’s id'));
      return { ...invoice, createdAt: new Date(found.created * 1000) };
    },
  };
}

type GetInvoice = ProcessorInvoices['getInvoice'];
type Moves = Pick<ProcessorInvoices, 'finalizeInvoice' | 'voidInvoice' | 'writeOffInvoice'>;

/** The calls that bring an invoice from one state to the next. */
function createMoves({ stripe, asked }: StripeCalls, getInvoice: GetInvoice): Moves {
  /**
   * Changes an invoice that is in one of these states.
   * @throws ProcessorError when it is refused though the invoice is still in one of them
   */
  async function move(
    id: string,
    from: readonly ProcessorInvoice['status'][],
    change: () => Promise<Stripe.Response<Stripe.Invoice>>,
  ): Promise<ProcessorInvoice> {
    try {
      const changed = await asked(change);
      // A repeated answer shows an earlier state: the invoice may have been paid since.
      return await (isReplay(changed) ? getInvoice(id) : invoiceOf(changed));
    } catch (error) {
      if (!saidNo(error)) throw error;
      const current = await getInvoice(id);
      if (from.includes(current.status)) throw error;
      return current;
    }
  }

  /** Deletes a draft. @returns whether it is gone; false when it was finalized meanwhile */
  async function deleteDraft(id: string): Promise<boolean> {
    try {
      await asked(() => stripe.invoices.del(id));
      return true;
    } catch (error) {
      if (saidNo(error) && (await getInvoice(id)).status !== 'draft') return false;
      throw error;
    }
  }

  return {
    finalizeInvoice: (id) =>
      move(id, ['draft'], () =>
        stripe.invoices.finalizeInvoice(id, { auto_advance: false, expand }, attemptKey('finalize', id)),
      ),
    voidInvoice: async (id) => {
      try {
        const before = await getInvoice(id);
        if (before.status === 'draft' && (await deleteDraft(id))) return { ...before, status: 'void' };
        return await move(id, unsettledStatuses, () =>
          stripe.invoices.voidInvoice(id, { expand }, attemptKey('void', id)),
        );
      } catch (error) {
        // A deleted draft can't be read any more.
        if (saidNo(error) && error.details.code === 'resource_missing') return deleted(id);
        throw error;
      }
    },
    writeOffInvoice: (id) =>
      move(id, ['draft', 'open'], () =>
        stripe.invoices.markUncollectible(id, { expand }, attemptKey('write-off', id)),
      ),
  };
}

/**
 * The processor advances, charges and mails nothing: the service does it itself, once (decision 35, "Invoices and
 * reminders").
 */
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

/** Reads an invoice with its expanded payments. @throws ProcessorError `unknown` when it can't be read */
export function invoiceOf(invoice: Stripe.Invoice): ProcessorInvoice {
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

function statusOf(status: string | null): ProcessorInvoice['status'] {
  const known = invoiceStatuses.find((candidate) => candidate === status);
  if (known === undefined)
    throw new ProcessorError('unknown', `The processor told of an invoice that is ${String(status)}.`);
  return known;
}

/** Finds the payment that settled it. Out of band nothing was charged, and none of its payments is paid. */
function paymentIdOf(invoice: Stripe.Invoice): string | null {
  const paid = invoice.payments?.data.find(({ status }) => status === 'paid');
  return idOf(paid?.payment.payment_intent ?? null);
}

function deleted(processorInvoiceId: string): ProcessorInvoice {
  return {
    processorInvoiceId,
    status: 'void',
    totalCents: 0,
    amountPaidCents: 0,
    currency: 'usd',
    hostedInvoiceUrl: null,
    invoicePdfUrl: null,
    paymentId: null,
    paidAt: null,
    customerId: null,
    invoiceId: null,
  };
}

/** Tells whether the processor repeated an earlier answer (docs.stripe.com/api/idempotent_requests). */
function isReplay({ lastResponse }: Stripe.Response<unknown>): boolean {
  return lastResponse.headers['idempotent-replayed'] === 'true';
}
