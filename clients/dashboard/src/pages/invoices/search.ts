import { invoiceStatuses, type ListedStatus } from '../../data/invoice-statuses.js';

/** What the address of the invoices tells. */
export interface InvoicesSearch {
  /** Only these; all where it is left out. */
  readonly status?: ListedStatus;
}

/** Reads the search part of the address; what is none of it is left out. */
export function readInvoicesSearch(search: Readonly<Record<string, unknown>>): InvoicesSearch {
  const status = invoiceStatuses.find((each) => each === search['status']);
  return status === undefined ? {} : { status };
}
