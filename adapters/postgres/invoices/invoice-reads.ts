import type { InvoiceId, LineItemId, RentalId, UserId } from '../../../domain/ids.js';
import type { Database } from '../database.js';
import type { InvoiceRow } from '../rows/tables.js';

/** A line of an invoice as it is shown; amounts in cents. */
export interface InvoiceLineItem {
  readonly id: LineItemId;
  readonly description: string;
  readonly amountCents: number;
  readonly rentalId: RentalId | null;
  readonly periodStart: Date | null;
  readonly periodEnd: Date | null;
}

/** An invoice with its lines and the rental that it is about. */
export interface Invoice {
  readonly row: InvoiceRow;
  readonly rentalId: RentalId | null;
  readonly lineItems: readonly InvoiceLineItem[];
}

/**
 * Lists a user's invoices, newest first (spec: GET /v1/billing/invoices).
 * @param wanted.status default: all but drafts
 * @param wanted.before only those older than the one of this id
 */
export async function listInvoices(
  db: Database,
  userId: UserId,
  { status, before }: { readonly status?: InvoiceRow['status']; readonly before?: string },
  limit: number,
): Promise<Invoice[]> {
  const query = db('invoices').where({ user_id: userId }).orderBy('id', 'desc').limit(limit);
  if (before !== undefined) void query.where('id', '<', before);
  return withLines(
    db,
    await (status === undefined ? query.whereNot({ status: 'draft' }) : query.where({ status })),
  );
}

/**
 * Finds a user's invoice, also a draft, which is shown to nobody; undefined for another user's as for none (decision 5,
 * "Foreign ids").
 */
export async function findInvoice(db: Database, userId: UserId, id: InvoiceId): Promise<Invoice | undefined> {
  const [invoice] = await withLines(db, await db('invoices').where({ id, user_id: userId }));
  return invoice;
}

/** Lists invoices of all users, drafts too, newest first. */
export async function listAllInvoices(
  db: Database,
  userId: UserId | undefined,
  limit: number,
): Promise<Invoice[]> {
  const query = db('invoices').orderBy('id', 'desc').limit(limit);
  return withLines(db, await (userId === undefined ? query : query.where({ user_id: userId })));
}

export async function findInvoiceOfAnyone(db: Database, id: InvoiceId): Promise<Invoice | undefined> {
  const [invoice] = await withLines(db, await db('invoices').where({ id }));
  return invoice;
}

type LineRow = InvoiceLineItem & { readonly invoiceId: InvoiceId };

/** Adds lines and rentals, by two queries for a page of any size. */
async function withLines(db: Database, rows: readonly InvoiceRow[]): Promise<Invoice[]> {
  const ids = rows.map(({ id }) => id);
  const rentalNos = rows.flatMap(({ rental_no: no }) => no ?? []);
  const [lines, rentals] = await Promise.all([
    db.raw<{ rows: LineRow[] }>(
      `select i.invoice_id as "invoiceId", i.id, i.description, i.amount_cents as "amountCents", r.id as "rentalId",
              i.period_start as "periodStart", i.period_end as "periodEnd"
         from invoice_line_items i left join rentals r on r.no = i.rental_no
        where i.invoice_id = any (:ids::text[]) order by i.id`,
      { ids },
    ),
    db('rentals').whereIn('no', rentalNos).select('no', 'id'),
  ]);
  const rentalIds = new Map(rentals.map(({ no, id }) => [no, id]));
  return rows.map((row) => ({
    row,
    rentalId: row.rental_no === null ? null : (rentalIds.get(row.rental_no) ?? null),
    lineItems: lines.rows.filter(({ invoiceId }) => invoiceId === row.id),
  }));
}
