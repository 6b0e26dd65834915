import { causeOf } from '../../domain/causes.js';
import { newId } from '../../adapters/ids.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import type { RentalRow } from '../../adapters/postgres/rows/tables.js';
import type { LockedWallet } from '../ledger/wallets.js';
import { overageLine } from '../../domain/payments/invoices.js';

/**
 * Writes the draft of an invoice for usage that the wallet did not cover (decision 26, "End of the money"). There is
 * one per rental: its cause is unique.
 */
export async function insertOverageInvoice(
  trx: Transaction,
  wallet: LockedWallet,
  rental: RentalRow,
  amountCents: number,
): Promise<void> {
  const id = newId('inv');
  const [inserted] = await trx('invoices')
    .insert({
      id,
      user_id: wallet.userId,
      wallet_id: wallet.id,
      status: 'draft',
      reason: 'overage',
      amount_cents: amountCents,
      rental_no: rental.no,
      cause: causeOf({ kind: 'overage', rentalId: rental.id }),
    })
    .onConflict('cause')
    .ignore()
    .returning('id');
  if (!inserted) return;
  await trx('invoice_line_items').insert({
    id: newId('li'),
    invoice_id: id,
    description: overageLine(rental),
    amount_cents: amountCents,
    rental_no: rental.no,
    period_start: rental.running_at,
    period_end: rental.ended_at,
  });
}
