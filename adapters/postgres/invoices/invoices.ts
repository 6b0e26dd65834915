import type { InvoiceId, LineItemId, UserId } from '../../../domain/ids.js';
import { unsettledStatuses } from '../../../domain/payments/invoices.js';
import type { Database, Transaction } from '../database.js';
import type { InvoiceRow } from '../rows/tables.js';

/** Finds the row of an invoice of any user; undefined when there is none. */
export async function findInvoiceRow(
  db: Database | Transaction,
  id: InvoiceId,
): Promise<InvoiceRow | undefined> {
  return db('invoices').where({ id }).first();
}

/** Reads the row of an invoice. @throws when it is not there: the row of an invoice stays */
export async function getInvoiceRow(db: Database | Transaction, id: InvoiceId): Promise<InvoiceRow> {
  const row = await findInvoiceRow(db, id);
  if (!row) throw new Error(`no invoice ${id}`);
  return row;
}

/**
 * Reads an invoice under its lock. Its wallet is locked first (design: rule 5).
 * @throws when it is not there
 */
export async function lockInvoice(trx: Transaction, id: InvoiceId): Promise<InvoiceRow> {
  const row = await trx('invoices').where({ id }).forUpdate().first();
  if (!row) throw new Error(`no invoice ${id}`);
  return row;
}

/** Lists a user's invoices that the processor knows and that nothing has settled yet. */
export async function listUnsettledMirrored(db: Database, userId: UserId): Promise<InvoiceRow[]> {
  return db('invoices')
    .where({ user_id: userId })
    .whereIn('status', unsettledStatuses)
    .whereNotNull('processor_invoice_id');
}

/** A line as the processor gets it; the amount in cents. */
export interface MirroredLine {
  readonly lineId: LineItemId;
  readonly description: string;
  readonly amountCents: number;
}

/** Lists the lines of an invoice, in their order. */
export async function listMirroredLines(db: Database, id: InvoiceId): Promise<MirroredLine[]> {
  const rows = await db('invoice_line_items').where({ invoice_id: id }).orderBy('id');
  return rows.map((row) => ({
    lineId: row.id,
    description: row.description,
    amountCents: row.amount_cents,
  }));
}
