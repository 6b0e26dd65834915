/** What is to be given back of a payment. */
export interface RefundInput {
  readonly paymentId: string;
  readonly amountCents: number;
  /** Made of our own row: it is the call's key, and stands on the refund, by which a lost answer is found. */
  readonly key: string;
}

/** Money that was given back to a payer. */
export interface Refund {
  readonly refundId: string;
  readonly paymentId: string;
  readonly chargeId: string | null;
  readonly amountCents: number;
  readonly currency: string;
  readonly status: 'pending' | 'succeeded' | 'failed' | 'canceled';
  /** The key of `createRefund`; null where others made it. */
  readonly key: string | null;
}

/** A bank's warning before its customer disputes: it takes a payment for fraud. */
export interface FraudWarning {
  readonly warningId: string;
  readonly chargeId: string;
  readonly paymentId: string | null;
}

/** A payment that its payer denies at the bank. */
export interface Dispute {
  readonly disputeId: string;
  readonly paymentId: string;
  readonly chargeId: string;
  /** May differ from the charge's. */
  readonly amountCents: number;
  readonly currency: string;
  /** The processor's word, for operators. */
  readonly status: string;
  /** Whether money was taken for it, and whether it came back. */
  readonly withdrawn: boolean;
  readonly reinstated: boolean;
  readonly closed: boolean;
}
