import type { Invoice } from '@gpu-rental/client';

/** Whether it is an offer, which nobody owes. */
export function isOffer({ reason }: Pick<Invoice, 'reason'>): boolean {
  return reason === 'topup_failed';
}

/** Whether it is owed, open and past its day: then the service rents nothing more. */
export function isOverdue(invoice: Pick<Invoice, 'status' | 'reason' | 'dueAt'>, nowMs: number): boolean {
  const { status, dueAt } = invoice;
  return status === 'open' && !isOffer(invoice) && dueAt !== null && Date.parse(dueAt) < nowMs;
}
