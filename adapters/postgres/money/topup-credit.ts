import type { TopupId } from '../../../domain/ids.js';
import { formatUsd } from '../../../domain/money.js';
import type { Payment } from '../../processor/processor.js';
import type { Database } from '../database.js';
import { insertMail } from '../outbox.js';
import { post } from './post.js';
import { lockWalletOfUser } from './wallets.js';

/**
 * Credits a payment that succeeded to the wallet of its top-up, with what was really received, and leaves the
 * receipt's mail: all in one transaction, once per payment however often it is called (decision 32).
 * @returns whether it was credited now
 */
export async function creditTopup(db: Database, topupId: TopupId, payment: Payment): Promise<boolean> {
  return db.transaction(async (trx) => {
    const topup = await trx('topups').where({ id: topupId }).first();
    if (!topup) throw new Error(`no top-up ${topupId}`);
    const wallet = await lockWalletOfUser(trx, topup.user_id);
    const credited = await post(trx, wallet, {
      type: 'processor_topup',
      availableCents: payment.amountReceivedCents,
      cause: `payment:${payment.paymentId}`,
      ...(payment.chargeId === null ? {} : { processorChargeId: payment.chargeId }),
    });
    if (!credited) return false;
    await trx('topups')
      .where({ id: topupId })
      .update({
        status: 'succeeded',
        payment_id: payment.paymentId,
        charge_id: payment.chargeId,
        receipt_url: payment.receiptUrl,
        credited_cents: payment.amountReceivedCents,
        credited_at: trx.raw('clock_ms()'),
        closed_at: trx.raw('clock_ms()'),
        error: null,
      });
    const user = await trx('users').where({ id: topup.user_id }).first('email');
    if (!user) throw new Error(`no user ${topup.user_id}`);
    await insertMail(trx, {
      cause: `receipt:${payment.paymentId}`,
      recipient: user.email,
      subject: `Your top-up of ${formatUsd(payment.amountReceivedCents)}`,
      body: receiptText(topupId, payment),
      wipeAfterSending: false,
    });
    return true;
  });
}

function receiptText(topupId: TopupId, payment: Payment): string {
  return [
    `Thank you. ${formatUsd(payment.amountReceivedCents)} was added to your wallet.`,
    '',
    `Top-up: ${topupId}`,
    ...(payment.receiptUrl === null ? [] : [`Receipt: ${payment.receiptUrl}`]),
  ].join('\n');
}
