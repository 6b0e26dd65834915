import { PeerError, statusesOfAll } from '../peer-error.js';
import type { ProcessorInvoices } from './processor-invoices.js';
import type { ProcessorLists } from './processor-lists.js';
import type { Dispute, FraudWarning, Refund, RefundInput } from './processor-reversals.js';

export type * from './processor-invoices.js';
export type * from './processor-lists.js';
export type * from './processor-reversals.js';

/**
 * The port to the payment processor, in our own words. Each call that changes something carries a key made
 * from our own row, and has a time limit. Failures are `ProcessorError`s whose kind says what is known.
 */
export interface Processor extends ProcessorInvoices, ProcessorLists {
  /** False when no secret key is configured; every other call then throws `refused`. */
  readonly enabled: boolean;
  /** Tells whether the key's account has a customer, or had one that was deleted there since. */
  knowsCustomer(customerId: string): Promise<boolean>;
  /** Makes the processor's customer of a user; the same user always gives the same customer. */
  createCustomer(input: { userId: string; email: string }): Promise<{ customerId: string }>;
  /** Erases a customer with the cards that they saved; what they paid stays. It does nothing for one that is gone. */
  deleteCustomer(customerId: string): Promise<void>;

  /** Opens a hosted payment page for one top-up. */
  createCheckoutSession(input: CheckoutInput): Promise<CheckoutSession>;
  getCheckoutSession(sessionId: string): Promise<CheckoutSession>;
  /** Closes an open page. One that can't be closed any more is returned as it is. */
  expireCheckoutSession(sessionId: string): Promise<CheckoutSession>;

  /**
   * Charges a saved card while its owner is away. The same top-up is always the same charge. Keys are kept for a day,
   * so a later repetition looks with `findPaymentOfTopup` first.
   * @throws ProcessorError `declined` with the bank's codes and the payment's id
   */
  chargeSavedCard(input: ChargeInput): Promise<Payment>;
  getPayment(paymentId: string): Promise<Payment>;
  /** Finds the customer's newest payment for a top-up, by its metadata; null when there is none. */
  findPaymentOfTopup(input: {
    customerId: string;
    topupId: string;
    createdFrom: Date;
  }): Promise<Payment | null>;
  /** Cancels a payment that nobody has paid. A payment that can no longer be cancelled is returned as it is. */
  cancelPayment(paymentId: string): Promise<Payment>;

  /** Begins to save a card for charges while its owner is away; the number makes each setup unique. */
  createCardSetup(input: { userId: string; customerId: string; setupNo: number }): Promise<CardSetup>;
  /** Ends a setup: it takes no card any more. It does nothing for one that has ended. */
  cancelCardSetup(setupId: string): Promise<void>;
  getCard(cardId: string): Promise<Card>;
  /** Takes a card from its customer for good. It does nothing for a card that is gone already. */
  detachCard(cardId: string): Promise<void>;

  /**
   * Gives a part of a payment back to the card that paid it. The same key is always the same refund, for a day; a later
   * repetition looks with `listRefundsOfCharge` first.
   * @throws ProcessorError `refused` where the card or the payment takes none, which moved nothing
   */
  createRefund(input: RefundInput): Promise<Refund>;
  /** null: no payment is behind its charge, so nobody of ours paid it. */
  getRefund(refundId: string): Promise<Refund | null>;
  /** Lists the refunds of a charge, newest first, at most a hundred; none of a charge without a payment. */
  listRefundsOfCharge(chargeId: string): Promise<Refund[]>;
  /** null as for refunds. */
  getDispute(disputeId: string): Promise<Dispute | null>;
  getFraudWarning(warningId: string): Promise<FraudWarning>;
  /** Reads the fingerprint of the card that paid a charge, the same whoever saves it; null when it was no card. */
  getCardFingerprint(chargeId: string): Promise<string | null>;

  /** Lists a page of events since an instant, newest first; the processor keeps them for 30 days. */
  listEvents(input: { since: Date; after: string | null }): Promise<EventPage>;
}

export interface CheckoutInput {
  readonly topupId: string;
  readonly userId: string;
  readonly customerId: string;
  readonly amountCents: number;
  readonly successUrl: string;
  readonly cancelUrl: string;
  /**
   * When the page closes, half an hour to a day from now; by default after a day. Take it from the top-up's row: a
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

export interface ChargeInput {
  readonly topupId: string;
  readonly userId: string;
  readonly customerId: string;
  readonly cardId: string;
  readonly amountCents: number;
  /** Who asked for it: its owner, or auto-topup. Its events carry it, so that they meet the workflow that waits. */
  readonly source: 'saved_card' | 'auto_topup';
}

export interface Payment {
  readonly paymentId: string;
  readonly status: 'succeeded' | 'processing' | 'requires_action' | 'failed' | 'canceled';
  /** The amount that was really received, in the smallest unit of the currency. */
  readonly amountReceivedCents: number;
  /** Lower-case ISO code. */
  readonly currency: string;
  readonly chargeId: string | null;
  readonly receiptUrl: string | null;
  /** When its charge was made. */
  readonly chargedAt: Date | null;
  readonly customerId: string | null;
  /** Our own ids from its metadata; null on a payment that we did not make. */
  readonly topupId: string | null;
  readonly userId: string | null;
  /** Why the last attempt failed. */
  readonly failure: Failure | null;
  /** The card that paid, where it was requested: on the payment of a session. */
  readonly card: Card | null;
}

export interface Failure {
  readonly code: string | null;
  readonly declineCode: string | null;
}

export interface CardSetup {
  readonly setupId: string;
  /** For the processor's own form in the browser. */
  readonly clientSecret: string;
}

export interface Card {
  readonly cardId: string;
  /** null once it is detached: it can't be charged any more. */
  readonly customerId: string | null;
  readonly brand: string;
  readonly last4: string;
  readonly expMonth: number;
  readonly expYear: number;
  /** The same for the same number, whoever saves it; null where the processor tells none. */
  readonly fingerprint: string | null;
  /** Its owner agreed on a payment page that it is kept and offered again. */
  readonly keptByConsent: boolean;
}

export interface EventPage {
  readonly events: ProcessorEvent[];
  /** The cursor of the next page; null at the end. */
  readonly after: string | null;
}

/** - declined: the bank said no. - refused: the request is wrong or not allowed. - unknown: retry with the same key. */
export type ProcessorErrorKind = 'declined' | 'refused' | 'unknown';

export class ProcessorError extends PeerError {
  override readonly name = 'ProcessorError';
  constructor(
    readonly kind: ProcessorErrorKind,
    message: string,
    readonly details: {
      code?: string;
      declineCode?: string;
      status?: number;
      /** The payment that was declined. */
      paymentId?: string;
    } = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  get isOfPeer(): boolean {
    const { code = '', status = 0 } = this.details;
    return this.kind === 'unknown' || statusesOfAll.includes(status) || codesOfKey.includes(code);
  }
}

/** The code of a call that was not made, because no key of the processor is set here. */
export const withoutKey = 'billing_disabled';

/** The code of a call that was not made, because the key is of another account or mode than our customers. */
export const anotherAccount = 'another_account';

const codesOfKey: readonly string[] = [withoutKey, anotherAccount];

/**
 * Tells whether the processor looked at the request and refused it. Only this says something of a user, a card or a
 * page: a refusal of our key says nothing of them (decision 95, "Outages of a peer").
 */
export function saidNo(error: unknown): error is ProcessorError {
  return error instanceof ProcessorError && error.kind === 'refused' && !error.isOfPeer;
}

/** Tells whether the processor said that there is no such object. */
export function isMissing(error: unknown): boolean {
  return (
    error instanceof ProcessorError && error.kind === 'refused' && error.details.code === 'resource_missing'
  );
}

/** @returns null when the processor says that there is no such object */
export async function unlessMissing<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** An event as it arrived at the webhook, after its signature was checked, or as the list of events shows it. */
export interface ProcessorEvent {
  readonly id: string;
  readonly kind: string;
  readonly createdAt: Date;
  readonly livemode: boolean;
  readonly apiVersion: string | null;
  /** The event's `data.object`, as sent. */
  readonly object: Record<string, unknown>;
}
