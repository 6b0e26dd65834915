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
  hasFile: true,
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
      'Thank you. We added $25.00 to your wallet.',
      'Your receipt is attached. You can find all your receipts on the Billing page, under Top-ups.',
      '',
      'Top-up: top_01ARZ3NDEKTSV4RRFFQ69G5FAV',
    ],
  ],
  [
    'confirms one whose receipt is the processor’s alone',
    receiptMail({ ...paid, hasFile: false }),
    'Your top-up of $25.00',
    [
      'Thank you. We added $25.00 to your wallet.',
      '',
      'Top-up: top_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      'Receipt: https://pay.example.com/r_1',
    ],
  ],
  [
    'confirms an automatic top-up',
    receiptMail({ ...paid, isAuto: true, hasFile: false }),
    'Your automatic top-up of $25.00',
    [
      'Thank you. We added $25.00 to your wallet.',
      '',
      'Top-up: top_01ARZ3NDEKTSV4RRFFQ69G5FAV',
      'Receipt: https://pay.example.com/r_1',
    ],
  ],
  [
    'confirms a payment that is no top-up and has no receipt',
    receiptMail({ ...paid, topupId: null, receiptUrl: null, hasFile: false }),
    'Your top-up of $25.00',
    ['Thank you. We added $25.00 to your wallet.', ''],
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
      'We did not charge your saved card, because your bank wants you to approve the payment. Pay here:',
      'https://pay.example.com/cs_1',
    ],
  ],
  [
    'tells of an automatic top-up that failed',
    autoTopupFailedMail(topup),
    'Your automatic top-up failed: please update your card',
    [
      'We could not charge your saved card $25.00. Your card was declined.',
      '',
      'Automatic top-ups are now off, and your machines stop when your balance runs out. Save another card in your',
      'billing settings and turn them back on, or pay the open invoice there.',
    ],
  ],
  [
    'tells of a card that has expired',
    cardExpiredMail({ brand: 'visa', last4: '4242' }),
    'Your saved card has expired',
    [
      'Your Visa card ending in 4242 has expired, so we can no longer charge it.',
      'Save another card in your billing settings. Until then, pay on the payment page.',
    ],
  ],
  [
    'tells of a card that is not charged after a dispute',
    chargesHeldMail({ kind: 'dispute' }),
    'Your card is no longer charged automatically',
    [
      'A payment with your card was disputed. Until support has reviewed it, we do not charge your saved card automatically: automatic',
      'top-ups are off, and you pay each top-up on the payment page. Running machines stop when your balance runs out.',
      '',
      'If you did not expect this, contact support.',
    ],
  ],
  [
    'tells of a card that is not charged after a warning of fraud',
    chargesHeldMail({ kind: 'early_fraud_warning' }),
    'Your card is no longer charged automatically',
    [
      'Your bank reported a payment with your card as fraud. Until support has reviewed it, we do not charge your saved card automatically: automatic',
      'top-ups are off, and you pay each top-up on the payment page. Running machines stop when your balance runs out.',
      '',
      'If you did not expect this, contact support.',
    ],
  ],
  [
    'tells of a refund',
    paymentTakenMail({ kind: 'refund', paymentId: 'pi_1', amountCents: 1_000, share: shareOf(1_000, 0) }),
    'Your payment was refunded',
    [
      '$10.00 of your payment pi_1 was refunded to you.',
      'We took $10.00 from your wallet for it.',
      '',
      'If you did not expect this, contact support.',
    ],
  ],
  [
    'tells of a dispute that the wallet did not cover',
    paymentTakenMail({ kind: 'dispute', paymentId: 'pi_1', amountCents: 1_000, share: shareOf(400, 600) }),
    'Your bank took back a payment',
    [
      'Your bank took back $10.00 of your payment pi_1, because the payment was disputed.',
      'We took $4.00 from your wallet for it.',
      'You had already spent $6.00 of it. Please pay the invoice that we send you for that.',
      '',
      'If you did not expect this, contact support.',
    ],
  ],
  [
    'tells of a refund that failed',
    paymentReturnedMail({ kind: 'refund', paymentId: 'pi_1', returnedCents: 1_000, hasInvoice: false }),
    'Your payment was not refunded',
    ['The refund did not go through, so your payment pi_1 stands.', '$10.00 is back in your wallet.'],
  ],
  [
    'tells of a dispute that was won',
    paymentReturnedMail({ kind: 'dispute', paymentId: 'pi_1', returnedCents: 0, hasInvoice: true }),
    'Your payment dispute is over',
    [
      'The dispute was decided in our favour, so your payment pi_1 stands.',
      'We had taken nothing from your wallet for it.',
      'The invoice for it is settled: you no longer have to pay it.',
    ],
  ],
];

describe('mails about payments', () => {
  for (const mail of mails) it(mail[0], () => isWhole(mail));
});
