import {
  autoTopupFailedMail,
  cardExpiredMail,
  chargesHeldMail,
  paymentReturnedMail,
  paymentTakenMail,
  receiptMail,
  topupApprovalMail,
  topupFailedMail,
} from '../../../domain/mails/payments.js';
import { isWhole, type Whole } from './whole.js';

const topup = {
  topupId: 'top_01ARZ3NDEKTSV4RRFFQ69G5FAV' as const,
  amountCents: 2_500,
  error: 'Your card was declined.',
};
const paid = {
  topupId: topup.topupId,
  isAuto: false,
  amountCents: 2_500,
  receiptUrl: 'https://pay.example.com/r_1',
};
const shareOf = (debitedCents: number, invoicedCents: number) => ({
  debitedCents,
  invoicedCents,
  writtenOffCents: 0,
});

const mails: readonly Whole[] = [
  [
    'confirms a top-up',
    receiptMail(paid),
    'Your top-up of $25.00',
    [
      'Thank you. $25.00 was added to your wallet.',
      '',
      'Top-up: top_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      'Receipt: https://pay.example.com/r_1',
    ],
  ],
  [
    'confirms an automatic top-up',
    receiptMail({ ...paid, isAuto: true }),
    'Your automatic top-up of $25.00',
    [
      'Thank you. $25.00 was added to your wallet.',
      '',
      'Top-up: top_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      'Receipt: https://pay.example.com/r_1',
    ],
  ],
  [
    'confirms a payment that is no top-up and has no receipt',
    receiptMail({ ...paid, topupId: null, receiptUrl: null }),
    'Your top-up of $25.00',
    ['Thank you. $25.00 was added to your wallet.', ''],
  ],
  [
    'tells of a top-up that failed',
    topupFailedMail(topup),
    'Your top-up of $25.00 failed',
    ['Your card was declined.', '', 'Top-up: top_01ARZ3NDEKTSV4RRFFQ69G5FAV'],
  ],
  [
    'tells of one that failed for no known reason',
    topupFailedMail({ ...topup, error: null }),
    'Your top-up of $25.00 failed',
    ['The payment failed.', '', 'Top-up: top_01ARZ3NDEKTSV4RRFFQ69G5FAV'],
  ],
  [
    'asks to approve a top-up',
    topupApprovalMail({ amountCents: 2_500, payUrl: 'https://pay.example.com/cs_1' }),
    'Your bank asks you to approve a top-up of $25.00',
    [
      'Your saved card was not charged: your bank wants you to approve it. Pay here:',
      'https://pay.example.com/cs_1',
    ],
  ],
  [
    'tells of an automatic top-up that failed',
    autoTopupFailedMail(topup),
    'Your automatic top-up failed: please update your card',
    [
      'Your saved card could not be charged with $25.00. Your card was declined.',
      '',
      'Automatic top-ups are off now, and your machines stop when the balance is used up. Save another card in your',
      'billing settings and switch them on again, or pay the open invoice that you find there.',
    ],
  ],
  [
    'tells of a card that has expired',
    cardExpiredMail({ brand: 'visa', last4: '4242' }),
    'Your saved card has expired',
    [
      'Your visa card ending in 4242 has expired, and can’t be charged any more.',
      'Save another card in your billing settings; until then you pay on the payment page.',
    ],
  ],
  [
    'tells of a card that is not charged after a dispute',
    chargesHeldMail({ kind: 'dispute' }),
    'Your card is no longer charged automatically',
    [
      'A payment by this card was disputed. Until our support has looked at it, your saved card is not charged while you are away: automatic',
      'top-ups are off, and you pay each top-up on the payment page. Machines that run stop when the balance is used up.',
      '',
      'If you did not expect this, answer to support.',
    ],
  ],
  [
    'tells of a card that is not charged after a warning of fraud',
    chargesHeldMail({ kind: 'early_fraud_warning' }),
    'Your card is no longer charged automatically',
    [
      'The bank of this card reported a payment as fraud. Until our support has looked at it, your saved card is not charged while you are away: automatic',
      'top-ups are off, and you pay each top-up on the payment page. Machines that run stop when the balance is used up.',
      '',
      'If you did not expect this, answer to support.',
    ],
  ],
  [
    'tells of a refund',
    paymentTakenMail({ kind: 'refund', paymentId: 'pi_1', amountCents: 1_000, share: shareOf(1_000, 0) }),
    'Your payment was refunded',
    [
      '$10.00 of your payment pi_1 was refunded to you.',
      '$10.00 was taken from your wallet for it.',
      '',
      'If you did not expect this, answer to support.',
    ],
  ],
  [
    'tells of a dispute that the wallet did not cover',
    paymentTakenMail({ kind: 'dispute', paymentId: 'pi_1', amountCents: 1_000, share: shareOf(400, 600) }),
    'Your bank took back a payment',
    [
      'Your bank took back $10.00 of your payment pi_1: it is disputed.',
      '$4.00 was taken from your wallet for it.',
      '$6.00 was spent already: you get an invoice for it. Please pay it.',
      '',
      'If you did not expect this, answer to support.',
    ],
  ],
  [
    'tells of a refund that failed',
    paymentReturnedMail({ kind: 'refund', paymentId: 'pi_1', returnedCents: 1_000, hasInvoice: false }),
    'Your payment was not refunded',
    ['The refund did not go through: payment pi_1 stands.', '$10.00 is in your wallet again.'],
  ],
  [
    'tells of a dispute that was won',
    paymentReturnedMail({ kind: 'dispute', paymentId: 'pi_1', returnedCents: 0, hasInvoice: true }),
    'Your payment dispute is over',
    [
      'The dispute was decided in favour of the payment: payment pi_1 stands.',
      'Nothing of it had been taken from your wallet.',
      'The invoice about it is settled: you need not pay it any more.',
    ],
  ],
];

describe('mails about payments', () => {
  for (const mail of mails) it(mail[0], () => isWhole(mail));
});
