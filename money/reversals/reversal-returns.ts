import { causeOf, type LedgerCause } from '../../domain/causes.js';
import type { InvoiceId } from '../../domain/ids.js';
import { paymentReturnedMail } from '../../domain/mails/payments.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { findSetOff } from '../../adapters/postgres/accounts/closing-money.js';
import { mailUser } from '../../adapters/postgres/upkeep/outbox.js';
import type { RefundOrDisputeRow } from '../../adapters/postgres/rows/tables.js';
import { tellReinstated } from './reversal-events.js';
import { requestVoid } from '../invoices/invoice-voids.js';
import { post } from '../ledger/post.js';
import type { LockedWallet } from '../ledger/wallets.js';

/**
 * Gives back what was taken by a refund that failed or a dispute that was won. The debit comes back as it was. The
 * invoice is voided, or what was paid on it is credited.
 * @returns whether anything had been taken
 */
export async function giveBack(
  trx: Transaction,
  wallet: LockedWallet,
  row: RefundOrDisputeRow,
): Promise<boolean> {
  await trx('refunds_and_disputes')
    .where({ id: row.id })
    .update({ given_back_at: trx.raw('clock_ms()') });
  if (row.taken_at === null) return false;
  if (row.debited_cents > 0) {
    const cause = { kind: 'reversal_returned', reversal: row.kind, id: row.id } as const;
    const posted = await postReturn(trx, wallet, cause, row.debited_cents, row.id);
    if (!posted) throw new Error(`${causeOf(cause)} was posted before, and its row does not know`);
  }
  const owedBackCents = row.invoice_id === null ? 0 : await undoDebt(trx, wallet, row.invoice_id, row.id);
  const returnedCents = row.debited_cents + owedBackCents;
  const message = paymentReturnedMail({
    kind: row.kind,
    paymentId: row.payment_id,
    returnedCents,
    hasInvoice: row.invoice_id !== null,
  });
  await mailUser(trx, row.user_id, { kind: 'reversal_returned', reversal: row.kind, id: row.id }, message);
  await tellReinstated(trx, row, returnedCents);
  return true;
}

/**
 * Takes a debt back, and what was set off for it when the account closed, also where it was paid as well.
 * @returns the cents that came to the wallet by this call
 */
async function undoDebt(
  trx: Transaction,
  wallet: LockedWallet,
  invoiceId: InvoiceId,
  id: string,
): Promise<number> {
  const paidBackCents = await returnInvoice(trx, wallet, invoiceId, id);
  const setOffCents = await findSetOff(trx, invoiceId);
  if (setOffCents === 0) return paidBackCents;
  const posted = await postReturn(trx, wallet, { kind: 'set_off_returned', invoiceId }, setOffCents, id);
  return paidBackCents + (posted ? setOffCents : 0);
}

/**
 * Takes an invoice back. An invoice that was paid although it was to be void is in the wallet already
 * (payments/settle-invoice.ts), under the same cause.
 * @returns the cents that were paid on the invoice and came to the wallet by this call
 */
async function returnInvoice(
  trx: Transaction,
  wallet: LockedWallet,
  invoiceId: InvoiceId,
  id: string,
): Promise<number> {
  const invoice = await trx('invoices').where({ id: invoiceId }).forUpdate().first();
  if (!invoice) throw new Error(`the invoice of ${id} vanished`);
  if (invoice.status === 'paid') {
    const posted = await postReturn(
      trx,
      wallet,
      { kind: 'invoice_returned', invoiceId },
      invoice.amount_cents,
      id,
    );
    return posted ? invoice.amount_cents : 0;
  }
  await requestVoid(trx, invoice.id, `${id} came back`);
  return 0;
}

/** @returns false when it was already given back */
async function postReturn(
  trx: Transaction,
  wallet: LockedWallet,
  cause: LedgerCause,
  cents: number,
  id: string,
): Promise<boolean> {
  return post(trx, wallet, { type: 'adjustment', availableCents: cents, cause, note: `${id} came back` });
}
