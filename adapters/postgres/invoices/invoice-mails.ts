import { findTopup } from '../payments/topups.js';
import { parseCause } from '../../../domain/causes.js';
import {
  autoTopupApprovalMail,
  invoiceGivenUpMail,
  invoiceOpenedMail,
  invoicePaidMail,
  invoiceReminderMail,
  type InvoiceLine,
  type OpenInvoice,
} from '../../../domain/mails/invoices.js';
import type { Transaction } from '../database.js';
import { mailUser } from '../upkeep/outbox.js';
import type { InvoiceRow } from '../rows/tables.js';
import { isDebt } from '../../../domain/payments/invoices.js';

/**
 * Tells a user once that an invoice is open. An offer after a failed auto-topup was announced by the mail that asks for
 * another card; if the bank wants the payment approved, one more carries the page for the approval.
 */
export async function mailOpenedInvoice(trx: Transaction, invoice: InvoiceRow): Promise<void> {
  const { id: invoiceId, user_id: userId } = invoice;
  if (isDebt(invoice)) {
    const message = invoiceOpenedMail(openOf(invoice), await linesOf(trx, invoice));
    return mailUser(trx, userId, { kind: 'invoice_opened', invoiceId }, message);
  }
  const topup = await findAttempt(trx, invoice);
  if (topup?.decline_code !== 'authentication_required') return;
  const cause = { kind: 'auto_topup_approval', topupId: topup.id } as const;
  await mailUser(trx, userId, cause, autoTopupApprovalMail(openOf(invoice)));
}

/**
 * Reminds of a debt; each reminder is sent once.
 * @param reminderNo counted from 1
 */
export async function mailReminder(trx: Transaction, invoice: InvoiceRow, reminderNo: number): Promise<void> {
  const message = invoiceReminderMail(openOf(invoice), await linesOf(trx, invoice), reminderNo);
  const cause = { kind: 'invoice_reminder', invoiceId: invoice.id, reminderNo } as const;
  await mailUser(trx, invoice.user_id, cause, message);
}

/** Tells a user once that a debt which they were asked for was given up. Nobody was asked for an offer, or a draft. */
export async function mailGivenUp(trx: Transaction, invoice: InvoiceRow): Promise<void> {
  if (!isDebt(invoice) || invoice.finalized_at === null) return;
  const message = invoiceGivenUpMail(openOf(invoice), await linesOf(trx, invoice));
  await mailUser(trx, invoice.user_id, { kind: 'written_off', invoiceId: invoice.id }, message);
}

/** Confirms that an invoice was paid. */
export async function mailInvoiceReceipt(trx: Transaction, invoice: InvoiceRow): Promise<void> {
  const { id: invoiceId, amount_cents: amountCents, receipt_url: receiptUrl } = invoice;
  const message = invoicePaidMail({ invoiceId, amountCents, receiptUrl });
  await mailUser(trx, invoice.user_id, { kind: 'invoice_paid', invoiceId }, message);
}

function openOf(invoice: InvoiceRow): OpenInvoice {
  const { amount_cents: amountCents, due_at: dueAt, hosted_invoice_url: payUrl } = invoice;
  return { amountCents, dueAt, payUrl };
}

async function linesOf(trx: Transaction, invoice: InvoiceRow): Promise<InvoiceLine[]> {
  const lines = await trx('invoice_line_items').where({ invoice_id: invoice.id }).orderBy('id');
  return lines.map(({ description, amount_cents: amountCents }) => ({ description, amountCents }));
}

/** Finds the attempt of auto-topup that an offer is for. */
async function findAttempt(trx: Transaction, invoice: InvoiceRow) {
  const cause = parseCause(invoice.cause);
  return cause?.kind === 'topup_offer' ? findTopup(trx, cause.topupId) : undefined;
}
