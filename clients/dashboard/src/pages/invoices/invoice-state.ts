import { isPayable, lookUp, type Invoice } from '@gpu-rental/client';
import { invoicesTexts } from '../../texts/invoices.js';

/** Whether it is an offer, which nobody owes. */
export function isOffer({ reason }: Pick<Invoice, 'reason'>): boolean {
  return reason === 'topup_failed';
}

/** Whether it is owed, open and past its day: then the service rents nothing more. */
export function isOverdue(invoice: Pick<Invoice, 'status' | 'reason' | 'dueAt'>, nowMs: number): boolean {
  const { status, dueAt } = invoice;
  return status === 'open' && !isOffer(invoice) && dueAt !== null && Date.parse(dueAt) < nowMs;
}

/** Why it was issued, and, while an offer can be paid, what paying it does; undefined for a reason of a newer service. */
export function whyOf(invoice: Pick<Invoice, 'status' | 'reason'>): string | undefined {
  const why = lookUp(invoicesTexts.why, invoice.reason);
  return why !== undefined && isOffer(invoice) && isPayable(invoice) ? invoicesTexts.offer(why) : why;
}
