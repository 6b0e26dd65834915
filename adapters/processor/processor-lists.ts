import type { ProcessorInvoice } from './processor-invoices.js';
import type { Dispute, Refund } from './processor-reversals.js';

/**
 * The part of the processor's port that tells everything there is, page by page and newest first, so that our books can
 * be compared with it (decision 62, "Comparison of the books"). A page may repeat what came with an earlier one when
 * something is made meanwhile.
 */
export interface ProcessorLists {
  /** Charges that took money, made since an instant. */
  listCharges(input: ListInput): Promise<Page<ListedCharge>>;
  /** The charge by which a payment took money, or a charge by its own id; null when there is none. */
  findCharge(paymentOrChargeId: string): Promise<ListedCharge | null>;
  /** Refunds made since an instant. */
  listRefunds(input: ListInput): Promise<Page<Refund & Dated>>;
  /** Disputes opened since an instant. */
  listDisputes(input: ListInput): Promise<Page<Dispute & Dated>>;
  /** Invoices made since an instant; or, whenever they were made, those that are open. */
  listInvoices(
    input: ListInput | { readonly open: true; readonly after: string | null },
  ): Promise<Page<ProcessorInvoice & Dated>>;
}

export interface ListInput {
  readonly since: Date;
  /** Where the page before said that it goes on; null at first. */
  readonly after: string | null;
}

export interface Page<T> {
  readonly items: T[];
  /** What came in a form that can't be read, and why. */
  readonly unread: readonly { readonly id: string; readonly error: unknown }[];
  /** Where the next page goes on; null at the end. */
  readonly after: string | null;
}

export interface Dated {
  /** When it last changed, as far as it tells: by the processor's clock. */
  readonly changedAt: Date;
}

export interface ListedCharge extends Dated {
  readonly chargeId: string;
  /** null on one that was made without a payment, which is not our way. */
  readonly paymentId: string | null;
  /** What was taken, and what was given back of it, in the smallest unit of the currency. */
  readonly amountCents: number;
  readonly refundedCents: number;
  /** Lower-case ISO code. */
  readonly currency: string;
  readonly customerId: string | null;
  /** Our own id from its metadata. */
  readonly topupId: string | null;
}
