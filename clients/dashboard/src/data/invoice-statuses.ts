/** The states of invoices that are listed: drafts are the service's own. */
export const invoiceStatuses = ['open', 'paid', 'void', 'uncollectible'] as const;
export type ListedStatus = (typeof invoiceStatuses)[number];
