import type { Transaction } from '../../adapters/postgres/database.js';
import { recordEvent } from '../../adapters/postgres/events/outbox.js';
import type { InvoiceRow } from '../../adapters/postgres/rows/tables.js';

/** The types of events that tell the state of an invoice. */
type InvoiceEvent = 'invoice.opened' | 'invoice.paid' | 'invoice.voided' | 'invoice.uncollectible';

/**
 * Tells the new state of an invoice, in the transaction that gave it that state.
 * @param row as the update left it
 */
export async function tellInvoice(trx: Transaction, type: InvoiceEvent, row: InvoiceRow): Promise<void> {
  const of = { userId: row.user_id, entityId: row.id };
  const data = { amountCents: row.amount_cents, reason: row.reason };
  switch (type) {
    case 'invoice.opened':
      return recordEvent(trx, { ...of, type, data: { ...data, dueAt: isoOf(row.due_at) } });
    case 'invoice.paid':
      return recordEvent(trx, { ...of, type, data: { ...data, paidAt: isoOf(row.paid_at) } });
    default:
      return recordEvent(trx, { ...of, type, data });
  }
}

function isoOf(at: Date | null): string {
  if (at === null) throw new Error('the instant of an invoice’s new state is missing');
  return at.toISOString();
}
