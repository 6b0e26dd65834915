import type { UserId } from '../../../domain/ids.js';
import { noBillingDetails, type BillingDetails } from '../../../domain/payments/receipt.js';
import type { Database, Transaction } from '../database.js';

/** Reads whom a user's statements and receipts are made out to. */
export async function readBillingDetails(db: Database, userId: UserId): Promise<BillingDetails> {
  const row = await db('billing_details').where({ user_id: userId }).first();
  return row ? { name: row.name, address: row.address, taxId: row.tax_id } : noBillingDetails;
}

/** Stores them; nothing is left of those before, and no row of details that say nothing. */
export async function saveBillingDetails(
  trx: Transaction,
  userId: UserId,
  { name, address, taxId }: BillingDetails,
): Promise<void> {
  if (name === null && address === null && taxId === null) {
    await trx('billing_details').where({ user_id: userId }).delete();
    return;
  }
  await trx('billing_details')
    .insert({ user_id: userId, name, address, tax_id: taxId })
    .onConflict('user_id')
    .merge({ name, address, tax_id: taxId, changed_at: trx.raw('clock_ms()') });
}
