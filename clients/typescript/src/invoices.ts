import type { Invoice, InvoiceStatus } from './schema.js';

/** The states in which an invoice can be paid, what is asked for now first. One that was given up still can. */
export const payableStatuses = ['open', 'uncollectible'] as const satisfies readonly InvoiceStatus[];

/** Whether an invoice can be paid now. */
export function isPayable({ status }: Pick<Invoice, 'status'>): boolean {
  return payableStatuses.some((each) => each === status);
}
