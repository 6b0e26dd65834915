import { causeOf } from '../../domain/causes.js';
import { autoTopupFailedMail } from '../../domain/mails/payments.js';
import { newId } from '../../adapters/ids.js';
import { disableAutoTopup } from '../../adapters/postgres/payments/auto-topup-settings.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { mailUser } from '../../adapters/postgres/upkeep/outbox.js';
import { isTakenAway } from '../../adapters/postgres/payments/saved-cards.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import { acknowledge } from './auto-topups.js';
import { voidOlderOffers } from '../invoices/invoice-voids.js';
import { endTopup } from './topups.js';
import { lockWalletOfUser } from '../ledger/wallets.js';
import { moneyTransaction } from '../ledger/transaction.js';

/**
 * Ends an attempt whose charge has failed (spec: Auto-topup trigger), in one transaction and once. Auto-topup goes off,
 * the user is asked for another card, and a `topup_failed` invoice offers to pay the amount (decision 35, "Invoices and
 * reminders"). If the bank wants its customer to approve, another mail brings the invoice's pay link, if it ever opens.
 * A card that its user took away meanwhile has not failed: the attempt ends, and that is all.
 */
export async function failAutoTopup(
  db: Database,
  topup: TopupRow,
  failure: { readonly declineCode: string; readonly error: string },
): Promise<void> {
  await moneyTransaction(db, topup.user_id, async (trx) => {
    const wallet = await lockWalletOfUser(trx, topup.user_id);
    if (topup.pm_id !== null && (await isTakenAway(trx, topup.pm_id))) {
      await endTopup(trx, topup.id, {
        status: 'failed',
        error: 'The card was removed, so you were not charged.',
      });
      await acknowledge(trx, wallet.id);
      return;
    }
    const ended = await endTopup(trx, topup.id, { status: 'failed', ...failure });
    if (!ended) return;
    await disableAutoTopup(trx, topup.user_id, 'charge_failed');
    await acknowledge(trx, wallet.id);
    await voidOlderOffers(trx, topup.user_id);
    await insertOffer(trx, topup, wallet.id);
    const message = autoTopupFailedMail({ amountCents: topup.amount_cents, error: failure.error });
    await mailUser(trx, topup.user_id, { kind: 'auto_topup_failed', topupId: topup.id }, message);
  });
}

/** Ends an attempt that never reached the processor: nothing was charged, and nothing is wrong with the card. */
export async function dropAutoTopup(db: Database, topup: TopupRow): Promise<void> {
  await moneyTransaction(db, topup.user_id, async (trx) => {
    const wallet = await lockWalletOfUser(trx, topup.user_id);
    await endTopup(trx, topup.id, {
      status: 'failed',
      error: 'The charge never reached the payment processor.',
    });
    await acknowledge(trx, wallet.id);
  });
}

async function insertOffer(trx: Transaction, topup: TopupRow, walletId: number): Promise<void> {
  const id = newId('inv');
  await trx('invoices').insert({
    id,
    user_id: topup.user_id,
    wallet_id: walletId,
    status: 'draft',
    reason: 'topup_failed',
    amount_cents: topup.amount_cents,
    cause: causeOf({ kind: 'topup_offer', topupId: topup.id }),
  });
  await trx('invoice_line_items').insert({
    id: newId('li'),
    invoice_id: id,
    description: `Automatic top-up ${topup.id}, which your saved card did not pay`,
    amount_cents: topup.amount_cents,
  });
}
