import { continueAsNew } from '@temporalio/workflow';
import { paymentLimits } from '../domain/payments/limits.js';
import { invoicing } from './activity-proxies.js';
import { followEvents } from './follow-events.js';
import type { InvoiceInput } from './contracts/invoice.js';

/**
 * One invoice, from its draft until it is paid, void or written off (spec: Invoice status; decision 35, "Invoices and
 * reminders"): mirrors it at the processor, waits for its events, reminds, and writes it off after a month. The row is
 * the state; a late payment of one that was written off starts the workflow again.
 */
export async function invoice(input: InvoiceInput): Promise<{ outcome: string }> {
  const dayMs = input.dayMs ?? paymentLimits.dayMs;
  const seen = await followEvents(() => invoicing.lookAtInvoice(input.invoiceId, dayMs), [dayMs]);
  return seen === undefined ? continueAsNew<typeof invoice>(input) : { outcome: seen.status };
}
