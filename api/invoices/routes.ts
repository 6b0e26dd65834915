import * as declared from './describe.js';
import { serve, type Handler } from '../http/serve.js';
import { findInvoice, listInvoices, type Invoice } from '../../adapters/postgres/invoices/invoice-reads.js';
import { isMissing, ProcessorError } from '../../adapters/processor/processor.js';
import { isId } from '../../domain/ids.js';
import { isPayable } from '../../domain/payments/invoices.js';
import { Refusal } from '../../domain/refusal.js';
import { callerOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import { readQuery } from '../http/validation.js';

/** The routes of invoices (spec: GET /v1/billing/invoices). Workflows make and settle them. */
export function invoiceRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.listInvoices, showInvoices(deps));
  serve(router, deps, declared.showInvoice, showInvoice(deps));
  serve(router, deps, declared.showPayUrl, showPayUrl(deps));
}

function showInvoices(deps: ApiDeps): Handler<typeof declared.listInvoices> {
  return async (ctx) => {
    const { limit, ...wanted } = readQuery(ctx, declared.invoicesQuery);
    if (wanted.before !== undefined) await getInvoice(ctx, deps, wanted.before);
    const invoices = await listInvoices(deps.db, callerOf(ctx).userId, wanted, limit);
    return { data: invoices.map(presentInvoice) };
  };
}

function showInvoice(deps: ApiDeps): Handler<typeof declared.showInvoice> {
  return async (ctx) => {
    const invoice = await getInvoice(ctx, deps);
    // Internal and transient (spec: Invoice status): it is not there yet, and pay-url says so of it with null.
    if (invoice.row.status === 'draft') throw notFound();
    return presentInvoice(invoice);
  };
}

/** Shows the page on which an invoice can be paid. The processor is asked each time: the page's address may change. */
function showPayUrl(deps: ApiDeps): Handler<typeof declared.showPayUrl> {
  return async (ctx) => {
    const { row } = await getInvoice(ctx, deps);
    return { url: isPayable(row) ? await readPayUrl(ctx, deps, row.processor_invoice_id) : null };
  };
}

async function readPayUrl(ctx: ApiContext, deps: ApiDeps, mirrorId: string | null): Promise<string | null> {
  if (mirrorId === null) return null;
  try {
    ctx.state.passTurn?.();
    const mirror = await deps.processor.getInvoice(mirrorId);
    // Our row may lag behind the processor by a moment (spec: Invoice status).
    return isPayable(mirror) ? mirror.hostedInvoiceUrl : null;
  } catch (error) {
    // One that is gone there does not come back: a person must see to it.
    if (!(error instanceof ProcessorError) || isMissing(error)) throw error;
    ctx.state.log.error({ err: error, mirrorId }, 'the page of an invoice could not be read');
    throw new Refusal(
      'temporarily_unavailable',
      'We can’t reach the payment processor right now. Try again in a few seconds.',
    );
  }
}

async function getInvoice(ctx: ApiContext, deps: ApiDeps, id = ctx.params['id'] ?? ''): Promise<Invoice> {
  const invoice = isId('inv', id) && (await findInvoice(deps.db, callerOf(ctx).userId, id));
  if (!invoice) {
    throw notFound();
  }
  return invoice;
}

/** An invoice on read. */
export function presentInvoice({ row, rentalId, lineItems }: Invoice) {
  return {
    id: row.id,
    status: row.status,
    reason: row.reason,
    amountCents: row.amount_cents,
    currency: row.currency,
    rentalId,
    processorInvoiceId: row.processor_invoice_id,
    hostedInvoiceUrl: row.hosted_invoice_url,
    invoicePdfUrl: row.invoice_pdf_url,
    receiptUrl: row.receipt_url,
    createdAt: row.created_at.toISOString(),
    dueAt: isoOf(row.due_at),
    paidAt: isoOf(row.paid_at),
    voidedAt: isoOf(row.voided_at),
    lineItems: lineItems.map((item) => ({
      id: item.id,
      description: item.description,
      amountCents: item.amountCents,
      rentalId: item.rentalId,
      periodStart: isoOf(item.periodStart),
      periodEnd: isoOf(item.periodEnd),
    })),
  };
}

function isoOf(instant: Date | null): string | null {
  return instant?.toISOString() ?? null;
}

function notFound(): Refusal {
  return new Refusal('invoice_not_found', 'You have no such invoice: GET /v1/billing/invoices lists yours.');
}
