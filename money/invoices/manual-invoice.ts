import { causeOf, type InvoiceCause } from '../../domain/causes.js';
import type { InvoiceId } from '../../domain/ids.js';
import { newId } from '../../adapters/ids.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import type { LockedWallet } from '../ledger/wallets.js';

/**
 * Writes the draft of a `manual` invoice: a debt, with one line. Its cause is unique (decision 30, "Reversed payments",
 * and decision 35, "Invoices and reminders").
 */
export async function insertManualInvoice(
  trx: Transaction,
  wallet: LockedWallet,
  invoice: { readonly cause: InvoiceCause; readonly amountCents: number; readonly description: string },
): Promise<InvoiceId> {
  const id = newId('inv');
  await trx('invoices').insert({
    id,
    user_id: wallet.userId,
    wallet_id: wallet.id,
    status: 'draft',
    reason: 'manual',
    amount_cents: invoice.amountCents,
    cause: causeOf(invoice.cause),
  });
  await trx('invoice_line_items').insert({
    id: newId('li'),
    invoice_id: id,
    description: invoice.description,
    amount_cents: invoice.amountCents,
  });
  return id;
}
