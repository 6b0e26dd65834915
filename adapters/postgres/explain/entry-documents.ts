import { findTopup } from '../payments/topups.js';
import type { ExplainedReversal, Explanation } from '../../../domain/ledger/explanation.js';
import type { InvoiceId, OperationId, TopupId } from '../../../domain/ids.js';
import { autoTopupWorkflowId } from '../../../domain/payments/processor-routes.js';
import { explainInvoice, explainPayment } from './explained-rows.js';
import type { Database, Transaction } from '../database.js';
import type { RefundOrDisputeRow, TopupRow } from '../rows/tables.js';

/** The documents behind an entry that is not metered: the processor's, an invoice, or an operator's word. */
export interface DocumentFacts {
  readonly shown: Pick<Explanation, 'payment' | 'reversal' | 'invoice' | 'byHand'>;
  readonly operator: string | null;
  readonly workflowIds: readonly string[];
}

const nothing: DocumentFacts['shown'] = { payment: null, reversal: null, invoice: null, byHand: null };

/** Finds the payment that was credited, with the top-up that asked for it or the invoice that it settled. */
export async function findPaymentOf(trx: Transaction, paymentId: string): Promise<Partial<DocumentFacts>> {
  const topup = await findTopupOfPayment(trx, paymentId);
  const invoice = await trx('invoices').where({ payment_id: paymentId }).first();
  const workflowIds = topup ? [workflowOf(topup)] : [invoice?.id ?? paymentId];
  return {
    shown: {
      ...nothing,
      payment: explainPayment(paymentId, topup),
      invoice: invoice ? explainInvoice(invoice) : null,
    },
    workflowIds,
  };
}

/** A page that was paid twice names its first payment only; the event of the second payment knows its top-up. */
export async function findTopupOfPayment(
  db: Database | Transaction,
  paymentId: string,
): Promise<TopupRow | undefined> {
  const topup = await db('topups').where({ payment_id: paymentId }).first();
  if (topup) return topup;
  const { rows } = await db.raw<{ rows: { topup_id: TopupId | null }[] }>(
    `select object -> 'metadata' ->> 'topup_id' as topup_id from processor_events
      where object ->> 'id' = ? and object -> 'metadata' ->> 'topup_id' is not null limit 1`,
    [paymentId],
  );
  const id = rows[0]?.topup_id ?? undefined;
  return id === undefined ? undefined : findTopup(db, id);
}

function workflowOf(topup: TopupRow): string {
  return topup.source === 'auto_topup' ? autoTopupWorkflowId(topup.user_id) : topup.id;
}

/** Finds an invoice that was paid out of band, or paid although it was to be void. */
export async function findInvoiceOf(trx: Transaction, id: InvoiceId): Promise<Partial<DocumentFacts>> {
  const invoice = await trx('invoices').where({ id }).first();
  if (!invoice) return {};
  const topup = invoice.payment_id === null ? undefined : await findTopupOfPayment(trx, invoice.payment_id);
  const payment = invoice.payment_id === null ? null : explainPayment(invoice.payment_id, topup);
  return { shown: { ...nothing, invoice: explainInvoice(invoice), payment }, workflowIds: [invoice.id] };
}

/** Finds what the processor took back, or gave back, by its id or by the invoice for what was not there. */
export async function findReversalOf(
  trx: Transaction,
  which: Pick<RefundOrDisputeRow, 'id'> | { readonly invoice_id: InvoiceId },
): Promise<Partial<DocumentFacts>> {
  const row = await trx('refunds_and_disputes').where(which).first();
  if (!row) return {};
  const topup = await findTopupOfPayment(trx, row.payment_id);
  const invoice =
    row.invoice_id === null ? undefined : await trx('invoices').where({ id: row.invoice_id }).first();
  return {
    shown: {
      ...nothing,
      reversal: presentReversal(row),
      payment: explainPayment(row.payment_id, topup),
      invoice: invoice ? explainInvoice(invoice) : null,
    },
    workflowIds: [row.id],
  };
}

function presentReversal(row: RefundOrDisputeRow): ExplainedReversal {
  return {
    id: row.id,
    kind: row.kind,
    status: row.status,
    paymentId: row.payment_id,
    amountCents: row.amount_cents,
    debitedCents: row.debited_cents,
    invoicedCents: row.invoiced_cents,
    writtenOffCents: row.written_off_cents,
    takenAt: row.taken_at,
    givenBackAt: row.given_back_at,
  };
}

/** Finds an operator's action: the user is told its reason, but not its operator. */
export async function findByHand(trx: Transaction, id: OperationId): Promise<Partial<DocumentFacts>> {
  const row = await trx('operator_actions').where({ id }).first();
  if (!row) return {};
  const byHand = { operationId: row.id, kind: row.kind, reason: row.reason, doneAt: row.done_at };
  return { shown: { ...nothing, byHand }, operator: row.operator, workflowIds: [row.id] };
}
