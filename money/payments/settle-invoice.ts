import type { InvoiceId } from '../../domain/ids.js';
import type { Payment } from '../../adapters/processor/processor.js';
import { wakeClosing } from '../../adapters/postgres/accounts/closings.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { mailInvoiceReceipt } from '../../adapters/postgres/invoices/invoice-mails.js';
import { getInvoiceRow, lockInvoice } from '../../adapters/postgres/invoices/invoices.js';
import type { InvoiceRow } from '../../adapters/postgres/rows/tables.js';
import { post } from '../ledger/post.js';
import { tellInvoice } from '../invoices/invoice-events.js';
import { creditPayment } from './credit.js';
import { lockWalletOfUser, type LockedWallet } from '../ledger/wallets.js';
import { moneyTransaction } from '../ledger/transaction.js';
import { isDebt } from '../../domain/payments/invoices.js';

export interface InvoicePaid {
  /** The payment that settled the invoice; null when it was paid out of band. */
  readonly payment: Payment | null;
  readonly paidAt: Date | null;
}

/**
 * Settles an invoice that was paid, by whatever path (spec: Invoice status), in one transaction and once. The money of
 * an offer goes to the wallet, and so does that of a debt that should have been void by then. Any other debt is settled
 * by it (decision 35, "Invoices and reminders").
 * @returns whether it was settled now
 */
export async function settleInvoice(db: Database, invoiceId: InvoiceId, paid: InvoicePaid): Promise<boolean> {
  const { user_id: userId } = await getInvoiceRow(db, invoiceId);
  return moneyTransaction(db, userId, async (trx) => {
    const wallet = await lockWalletOfUser(trx, userId);
    // Wallet first, then the invoice, everywhere (design: rule 5).
    const row = await lockInvoice(trx, invoiceId);
    if (row.status === 'paid') return false;
    await wakeClosing(trx, userId);
    const settled = await becomePaid(trx, invoiceId, paid);
    if (!isDebt(row)) return creditOffer(trx, wallet, settled, paid.payment);
    if (row.status === 'void' || row.void_requested_at !== null) await returnDebt(trx, wallet, settled);
    await mailInvoiceReceipt(trx, settled);
    return true;
  });
}

async function becomePaid(
  trx: Transaction,
  invoiceId: InvoiceId,
  { payment, paidAt }: InvoicePaid,
): Promise<InvoiceRow> {
  const [settled] = await trx('invoices')
    .where({ id: invoiceId })
    .update({
      status: 'paid',
      paid_at: paidAt ?? trx.raw('clock_ms()'),
      voided_at: null,
      payment_id: payment?.paymentId ?? null,
      receipt_url: payment?.receiptUrl ?? null,
      closed_at: trx.raw('clock_ms()'),
    })
    .returning('*');
  if (!settled) throw new Error(`invoice ${invoiceId} vanished`);
  await tellInvoice(trx, 'invoice.paid', settled);
  return settled;
}

async function creditOffer(
  trx: Transaction,
  wallet: LockedWallet,
  invoice: InvoiceRow,
  payment: Payment | null,
): Promise<boolean> {
  if (payment) return creditPayment(trx, invoice.user_id, payment, null);
  await post(trx, wallet, {
    type: 'processor_topup',
    availableCents: invoice.amount_cents,
    cause: { kind: 'invoice_paid', invoiceId: invoice.id },
    note: `invoice ${invoice.id} was paid out of band`,
  });
  await mailInvoiceReceipt(trx, invoice);
  return true;
}

/**
 * Returns a debt's money under the same cause as a reversal that came back, so that it is given back once
 * (reversal-returns.ts).
 */
async function returnDebt(trx: Transaction, wallet: LockedWallet, invoice: InvoiceRow): Promise<void> {
  await post(trx, wallet, {
    type: 'adjustment',
    availableCents: invoice.amount_cents,
    cause: { kind: 'invoice_returned', invoiceId: invoice.id },
    note: `invoice ${invoice.id} was paid although it was to be void`,
  });
}
