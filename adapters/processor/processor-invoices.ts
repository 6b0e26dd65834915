import type { InvoiceStatus } from '../../domain/payments/invoices.js';

/** The port's part for invoices (decision 35, "Invoices and reminders"): mirrors of our own rows. */
export interface ProcessorInvoices {
  /**
   * Makes the draft of a mirror with its lines. The same invoice always gives the same draft. Keys are kept for a day,
   * so a later repetition looks with `findInvoice` first. The processor advances, mails and charges nothing by itself.
   */
  createInvoice(input: InvoiceInput): Promise<ProcessorInvoice>;
  /** Finds the customer's mirror of one of our invoices, by its metadata; null when there is none. */
  findInvoice(input: {
    customerId: string;
    invoiceId: string;
    createdFrom: Date;
  }): Promise<FoundInvoice | null>;
  getInvoice(processorInvoiceId: string): Promise<ProcessorInvoice>;
  /**
   * Opens a draft, so that it can be paid. An invoice that is no longer a draft is returned as it is.
   * @throws ProcessorError `refused` when it can't be opened and stays a draft
   */
  finalizeInvoice(processorInvoiceId: string): Promise<ProcessorInvoice>;
  /** Voids an open one, or deletes a draft. An invoice that was settled meanwhile is returned as it is. */
  voidInvoice(processorInvoiceId: string): Promise<ProcessorInvoice>;
  /**
   * Writes an open one off; it can be paid all the same. An invoice that was settled meanwhile is returned as it is.
   * @throws ProcessorError `refused` for a draft
   */
  writeOffInvoice(processorInvoiceId: string): Promise<ProcessorInvoice>;
}

export interface InvoiceInput {
  readonly invoiceId: string;
  readonly userId: string;
  readonly customerId: string;
  readonly lines: readonly InvoiceLine[];
  /** Days from its opening until it is due; shown, not enforced. */
  readonly daysUntilDue: number;
}

export interface InvoiceLine {
  readonly lineId: string;
  readonly description: string;
  readonly amountCents: number;
}

export interface ProcessorInvoice {
  readonly processorInvoiceId: string;
  /** `void` also for a draft that was deleted. */
  readonly status: InvoiceStatus;
  readonly totalCents: number;
  readonly amountPaidCents: number;
  /** Lower-case ISO code. */
  readonly currency: string;
  /** null while it is a draft. */
  readonly hostedInvoiceUrl: string | null;
  readonly invoicePdfUrl: string | null;
  /** The payment that settled it; null when none did, or it was paid out of band. */
  readonly paymentId: string | null;
  readonly paidAt: Date | null;
  readonly customerId: string | null;
  /** Our own id from its metadata; null on an invoice that we did not make. */
  readonly invoiceId: string | null;
}

export interface FoundInvoice extends ProcessorInvoice {
  /** By the processor's clock, which also tells how long its key is kept. */
  readonly createdAt: Date;
}
