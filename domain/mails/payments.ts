import type { TopupId } from '../ids.js';
import { formatUsd } from '../money.js';
import { brandOf } from '../payments/card-brands.js';
import type { ReversalShare } from '../payments/reversal.js';
import { answerToSupport, messageOf, type Message } from './message.js';
import { bareButton, button, fact } from './parts.js';

/** A payment was credited. @param topupId null for a payment that is no top-up's */
export function receiptMail(receipt: {
  readonly topupId: TopupId | null;
  readonly isAuto: boolean;
  readonly amountCents: number;
  readonly receiptUrl: string | null;
  /** Whether the receipt is attached. */
  readonly hasFile: boolean;
}): Message {
  const amount = formatUsd(receipt.amountCents);
  return messageOf(`Your ${receipt.isAuto ? 'automatic ' : ''}top-up of ${amount}`, [
    `Thank you. We added ${amount} to your wallet.`,
    ...(receipt.hasFile
      ? ['Your receipt is attached. You can find all your receipts on the Billing page, under Top-ups.']
      : []),
    '',
    ...(receipt.topupId === null ? [] : [fact('Top-up', receipt.topupId)]),
    ...(receipt.receiptUrl === null || receipt.hasFile ? [] : [button('Receipt', receipt.receiptUrl)]),
  ]);
}

/** A charge that was answered with "processing" has failed. @param error the reason, in a sentence; null: not known */
export function topupFailedMail(topup: {
  readonly topupId: TopupId;
  readonly amountCents: number;
  readonly error: string | null;
}): Message {
  return messageOf(`Your top-up of ${formatUsd(topup.amountCents)} failed`, [
    topup.error ?? 'The payment failed.',
    '',
    fact('Top-up', topup.topupId),
  ]);
}

/** The bank wants a top-up approved, on a page. */
export function topupApprovalMail(topup: { readonly amountCents: number; readonly payUrl: string }): Message {
  return messageOf(`Your bank asks you to approve a top-up of ${formatUsd(topup.amountCents)}`, [
    'We did not charge your saved card, because your bank wants you to approve the payment. Pay here:',
    bareButton('Approve and pay', topup.payUrl),
  ]);
}

/** An automatic top-up failed, and auto-topup is off. @param error the reason, in a sentence */
export function autoTopupFailedMail(topup: {
  readonly amountCents: number;
  readonly error: string;
}): Message {
  return messageOf('Your automatic top-up failed: please update your card', [
    `We could not charge your saved card ${formatUsd(topup.amountCents)}. ${topup.error}`,
    '',
    'Automatic top-ups are now off, and your machines stop when your balance runs out. Save another card in your',
    'billing settings and turn them back on, or pay the open invoice there.',
  ]);
}

/** The saved card's month is over. */
export function cardExpiredMail(card: { readonly brand: string; readonly last4: string }): Message {
  return messageOf('Your saved card has expired', [
    `Your ${brandOf(card.brand)} card ending in ${card.last4} has expired, so we can no longer charge it.`,
    'Save another card in your billing settings. Until then, pay on the payment page.',
  ]);
}

/** A payment by the card was denied: the card is not charged while its user is away (decision 79, "Charge marks"). */
export function chargesHeldMail(mark: { readonly kind: 'dispute' | 'early_fraud_warning' }): Message {
  const what =
    mark.kind === 'dispute'
      ? 'A payment with your card was disputed'
      : 'Your bank reported a payment with your card as fraud';
  return messageOf('Your card is no longer charged automatically', [
    `${what}. Until support has reviewed it, we do not charge your saved card automatically: automatic`,
    'top-ups are off, and you pay each top-up on the payment page. Running machines stop when your balance runs out.',
    '',
    answerToSupport,
  ]);
}

interface Reversal {
  readonly kind: 'refund' | 'dispute';
  readonly paymentId: string;
}

/**
 * A refund or a dispute took money.
 * @param amountCents of the refund or dispute; the share says how much of it was taken
 */
export function paymentTakenMail(
  reversal: Reversal & { readonly amountCents: number; readonly share: ReversalShare },
): Message {
  const { kind, paymentId, amountCents } = reversal;
  const { debitedCents, invoicedCents } = reversal.share;
  const isRefund = kind === 'refund';
  const amount = formatUsd(amountCents);
  return messageOf(isRefund ? 'Your payment was refunded' : 'Your bank took back a payment', [
    isRefund
      ? `${amount} of your payment ${paymentId} was refunded to you.`
      : `Your bank took back ${amount} of your payment ${paymentId}, because the payment was disputed.`,
    ...(debitedCents > 0 ? [`We took ${formatUsd(debitedCents)} from your wallet for it.`] : []),
    ...(invoicedCents > 0
      ? [
          `You had already spent ${formatUsd(invoicedCents)} of it. Please pay the invoice that we send you for that.`,
        ]
      : []),
    '',
    answerToSupport,
  ]);
}

/** A refund that failed, or a dispute that was won, gave money back. @param hasInvoice whether one was made for it */
export function paymentReturnedMail(
  reversal: Reversal & { readonly returnedCents: number; readonly hasInvoice: boolean },
): Message {
  const { kind, paymentId, returnedCents, hasInvoice } = reversal;
  const what = kind === 'refund' ? 'The refund did not go through' : 'The dispute was decided in our favour';
  return messageOf(`Your payment ${kind === 'refund' ? 'was not refunded' : 'dispute is over'}`, [
    `${what}, so your payment ${paymentId} stands.`,
    returnedCents > 0
      ? `${formatUsd(returnedCents)} is back in your wallet.`
      : 'We had taken nothing from your wallet for it.',
    ...(hasInvoice ? ['The invoice for it is settled: you no longer have to pay it.'] : []),
  ]);
}
