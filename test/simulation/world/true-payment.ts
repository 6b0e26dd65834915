import type { Card, Payment } from '../../../adapters/processor/processor.js';

/** What changes of a payment until its bank has decided. */
type Changing =
  'status' | 'failure' | 'card' | 'receiptUrl' | 'chargeId' | 'chargedAt' | 'amountReceivedCents';

/** A payment as the processor truly has it. */
export interface TruePayment extends Omit<Payment, Changing> {
  status: Payment['status'];
  failure: Payment['failure'];
  card: Card | null;
  /** null while nothing was charged. */
  chargeId: string | null;
  chargedAt: Date | null;
  amountReceivedCents: number;
  readonly askedCents: number;
  readonly receiptUrl: string;
  /** When it was charged; until then, when it was asked for. Milliseconds since 1970. */
  createdMs: number;
  readonly source: string | null;
  /** That of the card that paid. */
  readonly fingerprint: string;
}

/** A payment as the processor shows it now. */
export function shown(payment: TruePayment): Payment {
  return {
    ...{ paymentId: payment.paymentId, status: payment.status, currency: payment.currency },
    ...{ amountReceivedCents: payment.amountReceivedCents, chargeId: payment.chargeId },
    ...{ receiptUrl: payment.receiptUrl, chargedAt: payment.chargedAt, customerId: payment.customerId },
    ...{ topupId: payment.topupId, userId: payment.userId, failure: payment.failure, card: payment.card },
  };
}
