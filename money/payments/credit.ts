import type { TopupId, UserId } from '../../domain/ids.js';
import { receiptMail } from '../../domain/mails/payments.js';
import type { Seller } from '../../domain/payments/receipt.js';
import type { Payment } from '../../adapters/processor/processor.js';
import { wakeClosing } from '../../adapters/postgres/accounts/closings.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { recordEvent } from '../../adapters/postgres/events/outbox.js';
import { tieAccount } from '../../adapters/postgres/accounts/account-ties.js';
import { buyerSql } from '../../adapters/postgres/payments/receipts.js';
import { getTopup } from '../../adapters/postgres/payments/topups.js';
import { mailUser } from '../../adapters/postgres/upkeep/outbox.js';
import type { TopupRow } from '../../adapters/postgres/rows/tables.js';
import { acknowledge } from '../topups/auto-topups.js';
import { voidOffersCoveredBy } from '../invoices/invoice-voids.js';
import { post } from '../ledger/post.js';
import { lockWalletOfUser } from '../ledger/wallets.js';
import { moneyTransaction } from '../ledger/transaction.js';

/**
 * Credits a payment that succeeded to the wallet of its top-up, with the amount that was really received, and leaves
 * the receipt's mail. All of it is one transaction, once per payment however often it is called. A page that was paid
 * twice credits twice (decision 32, "Checkout and credit").
 * @param seller as its receipt names them for good
 * @returns whether it was credited now
 */
export async function creditTopup(
  db: Database,
  topupId: TopupId,
  payment: Payment,
  seller: Seller,
): Promise<boolean> {
  const topup = await getTopup(db, topupId);
  return moneyTransaction(db, topup.user_id, async (trx) => {
    if (!(await creditPayment(trx, topup.user_id, payment, topup))) return false;
    await becomeSucceeded(trx, topup, payment, seller);
    return true;
  });
}

/**
 * Notes that a top-up was paid. It is told once; what a page brings that is paid twice is told as a credit of the
 * wallet alone.
 */
async function becomeSucceeded(
  trx: Transaction,
  topup: TopupRow,
  payment: Payment,
  seller: Seller,
): Promise<void> {
  const { rows } = await trx.raw<{
    rows: (Pick<TopupRow, 'amount_cents' | 'source'> & { before: TopupRow['status'] })[];
  }>(
    `update topups t
        set status = 'succeeded',
            payment_id = case when t.credited_at is null then :paymentId else t.payment_id end,
            charge_id = case when t.credited_at is null then :chargeId else t.charge_id end,
            receipt_url = case when t.credited_at is null then :receiptUrl else t.receipt_url end,
            credited_cents = coalesce(t.credited_cents, :cents),
            credited_at = coalesce(t.credited_at, clock_ms()),
            closed_at = clock_ms(),
            error = null,
            decline_code = null,
            billed_to = case when t.credited_at is null then
                          (select ${buyerSql} from billing_details b where b.user_id = t.user_id)
                        else t.billed_to end,
            sold_by = case when t.credited_at is null then :seller::jsonb else t.sold_by end,
            card_brand = case when t.credited_at is null then coalesce(:brand, saved.brand)
                         else t.card_brand end,
            card_last4 = case when t.credited_at is null then coalesce(:last4, saved.last4)
                         else t.card_last4 end
       from (select id, status as before from topups where id = :topupId for update) old
       left join (select c.brand, c.last4 from saved_cards c where c.pm_id = :pmId) saved on true
      where t.id = old.id
     returning old.before, t.amount_cents, t.source`,
    {
      topupId: topup.id,
      paymentId: payment.paymentId,
      chargeId: payment.chargeId,
      receiptUrl: payment.receiptUrl,
      cents: payment.amountReceivedCents,
      seller: JSON.stringify(seller),
      brand: payment.card?.brand ?? null,
      last4: payment.card?.last4 ?? null,
      // A page may have been paid by another card than the one that could not be charged.
      pmId: topup.source === 'checkout' ? null : topup.pm_id,
    },
  );
  const [row] = rows;
  if (!row || row.before === 'succeeded') return;
  const of = { userId: topup.user_id, entityId: topup.id };
  const { amountReceivedCents: creditedCents } = payment;
  await recordEvent(trx, {
    ...of,
    type: 'topup.succeeded',
    data: { amountCents: row.amount_cents, creditedCents, source: row.source },
  });
  if (row.source !== 'auto_topup') return;
  await recordEvent(trx, { ...of, type: 'auto_topup.succeeded', data: { creditedCents } });
}

/**
 * Credits a payment that names one of our users and none of their top-ups (spec: Events,
 * `checkout.session.completed`), once.
 * @returns whether it was credited now
 */
export async function creditUser(db: Database, userId: UserId, payment: Payment): Promise<boolean> {
  return moneyTransaction(db, userId, (trx) => creditPayment(trx, userId, payment, null));
}

/**
 * Credits a payment that succeeded within a transaction, once, with its receipt; offers that it covers become void.
 * @param topup the payment's top-up; null for a payment that names a user only, or settled an offer
 */
export async function creditPayment(
  trx: Transaction,
  userId: UserId,
  payment: Payment,
  topup: TopupRow | null,
): Promise<boolean> {
  const isAuto = topup?.source === 'auto_topup';
  const wallet = await lockWalletOfUser(trx, userId);
  const credited = await post(trx, wallet, {
    type: isAuto ? 'auto_topup' : 'processor_topup',
    availableCents: payment.amountReceivedCents,
    cause: { kind: 'payment', paymentId: payment.paymentId },
    ...(payment.chargeId === null ? {} : { processorChargeId: payment.chargeId }),
  });
  if (!credited) return false;
  await wakeClosing(trx, userId);
  if (isAuto) await acknowledge(trx, wallet.id);
  await tieToCard(trx, userId, payment, topup);
  await voidOffersCoveredBy(trx, userId, payment.amountReceivedCents);
  const message = receiptMail({
    topupId: topup?.id ?? null,
    isAuto,
    amountCents: payment.amountReceivedCents,
    receiptUrl: payment.receiptUrl,
    // What a page brings that is paid twice has the processor's receipt alone.
    hasFile: topup !== null && topup.credited_at === null,
  });
  await mailUser(trx, userId, { kind: 'receipt', paymentId: payment.paymentId }, message);
  return true;
}

/** Ties an account to the card that it paid with, where the payment or its saved card says which one that was. */
async function tieToCard(
  trx: Transaction,
  userId: UserId,
  payment: Payment,
  topup: TopupRow | null,
): Promise<void> {
  const fingerprint = payment.card?.fingerprint ?? (await fingerprintOf(trx, topup));
  if (fingerprint !== null) await tieAccount(trx, userId, 'card', fingerprint);
}

/** Reads the fingerprint of the saved card that a top-up was charged to; null where there is none. */
async function fingerprintOf(trx: Transaction, topup: TopupRow | null): Promise<string | null> {
  if (!topup?.pm_id) return null;
  return (await trx('saved_cards').where({ pm_id: topup.pm_id }).first('fingerprint'))?.fingerprint ?? null;
}
