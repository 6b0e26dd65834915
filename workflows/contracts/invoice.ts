import type { InvoiceId } from '../../domain/ids.js';

export interface InvoiceInput {
  readonly invoiceId: InvoiceId;
  /** How long a day of dunning is, in milliseconds; a real day unless told. */
  readonly dayMs?: number;
}
