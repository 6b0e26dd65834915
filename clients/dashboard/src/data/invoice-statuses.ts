import type { Invoice } from '@gpu-rental/client';

export type ListedStatus = Exclude<Invoice['status'], 'draft'>;

/** A further state of the service does not compile until it stands here. */
const listed: Readonly<Record<ListedStatus, true>> = {
  open: true,
  paid: true,
  void: true,
  uncollectible: true,
};

/** The states of invoices that are listed, in their order: drafts are the service's own. */
export const invoiceStatuses = Object.keys(listed) as ListedStatus[];
