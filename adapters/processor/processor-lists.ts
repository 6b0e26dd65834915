import type { ProcessorInvoice } from './processor-invoices.js';
import type { Dispute, Refund } from './processor-reversals.js';

/**
 * The port's part that lists everything there is, page by page and newest first, so that our books can be compared with
 * it (decision 62, "Comparison of the books"). When something is made meanwhile, a page may repeat items of an earlier
 * one.
 */
export interface ProcessorLists {
  /** Lists charges that took money, made since an instant. */
  listCharges(input: ListInput): Promise<Page<ListedCharge>>;
  /** Finds the charge by which a payment took money, or a charge by its own id; null when there is none. */
  findCharge(paymentOrChargeId: string): Promise<ListedCharge | null>;
  /** Lists refunds made since an instant. */
  listRefunds(input: ListInput): Promise<Page<Refund & Dated>>;
  /** Lists disputes opened since an instant. */
  listDisputes(input: ListInput): Promise<Page<Dispute & Dated>>;
  /** Lists invoices made since an instant; or, whenever they were made, those that are open. */
  listInvoices(
    input: ListInput | { readonly open: true; readonly after: string | null },
  ): Promise<Page<ProcessorInvoice & Dated>>;
}

export interface ListInput {
  readonly since: Date;
  /** The cursor from the page before; null for the first page. */
  readonly after: string | null;
}

export interface Page<T> {
  readonly items: T[];
  /** Items in an unreadable form, each with the reason. */
  readonly unread: readonly { readonly id: string; readonly error: unknown }[];
  /** The cursor of the next page; null at the end. */
  readonly after: string | null;
}

export interface Dated {
  /** When it last changed, as far as the processor tells, by its clock. */
  readonly changedAt: Date;
}

export interface ListedCharge extends Dated {
  readonly chargeId: string;
  /** null on a refund that was made without a payment, which this service never does. */
  readonly paymentId: string | null;
  /** The amount that was taken, and the amount given back of it, in the smallest unit of the currency. */
  readonly amountCents: number;
  readonly refundedCents: number;
  /** Lower-case ISO code. */
  readonly currency: string;
  readonly customerId: string | null;
  /** Our own id from its metadata. */
  readonly topupId: string | null;
}
