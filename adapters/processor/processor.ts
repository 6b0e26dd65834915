/**
 * The port to the payment processor, in our own words. Each call that changes something carries a key made
 * from our own row, and has a time limit. Failures are `ProcessorError`s whose kind says what is known.
 */
export interface Processor {
  /** False when no secret key is configured; every other call then throws `refused`. */
  readonly enabled: boolean;
  /** Makes the processor's customer of a user; the same user always gives the same customer. */
  createCustomer(input: { userId: string; email: string }): Promise<{ customerId: string }>;
  /** Opens a hosted payment page for one top-up. */
  createCheckoutSession(input: CheckoutInput): Promise<CheckoutSession>;
  getCheckoutSession(sessionId: string): Promise<CheckoutSession>;
}

export interface CheckoutInput {
  readonly topupId: string;
  readonly userId: string;
  readonly customerId: string;
  readonly amountCents: number;
  readonly successUrl: string;
  readonly cancelUrl: string;
  /**
   * When the page closes, half an hour to a day from now; a day when left out. Take it from the top-up's row: a
   * repeated call with another instant is another request under the same key, and is refused.
   */
  readonly expiresAt?: Date;
}

export interface CheckoutSession {
  readonly sessionId: string;
  /** null once it is complete or expired. */
  readonly url: string | null;
  readonly status: 'open' | 'complete' | 'expired';
  readonly paymentStatus: 'paid' | 'unpaid' | 'no_payment_required';
  readonly expiresAt: Date;
  /** The payment behind the page; null until the payer tried. */
  readonly payment: Payment | null;
}

export interface Payment {
  readonly paymentId: string;
  readonly status: 'succeeded' | 'processing' | 'requires_action' | 'failed' | 'canceled';
  /** What was really received, in the smallest unit of the currency. */
  readonly amountReceivedCents: number;
  /** Lower-case ISO code. */
  readonly currency: string;
  readonly chargeId: string | null;
  readonly receiptUrl: string | null;
}

/** - declined: the bank said no. - refused: the request is wrong or not allowed. - unknown: retry with the same key. */
export type ProcessorErrorKind = 'declined' | 'refused' | 'unknown';

export class ProcessorError extends Error {
  override readonly name = 'ProcessorError';
  constructor(
    readonly kind: ProcessorErrorKind,
    message: string,
    readonly details: { code?: string; declineCode?: string; status?: number } = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** An event as it arrived at the webhook, after its signature was checked. */
export interface ProcessorEvent {
  readonly id: string;
  readonly kind: string;
  readonly createdAt: Date;
  readonly livemode: boolean;
  readonly apiVersion: string | null;
  /** The event's `data.object`, as sent. */
  readonly object: Record<string, unknown>;
}
