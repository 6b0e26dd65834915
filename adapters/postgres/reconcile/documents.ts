import type { Database } from '../database.js';
import { paymentOfCauseSql } from '../ledger/cause-sql.js';
import type { ReconcileDocumentRow } from '../rows/tables.js';
import { MINUTE } from '../../../domain/durations.js';

/** A document of the processor, reduced to the fields that are compared. */
export type ProcessorDocument = Pick<ReconcileDocumentRow, 'kind' | 'id' | 'status'> &
  Partial<Omit<ReconcileDocumentRow, 'run_id'>>;

/** Called after each batch: the work gets on. */
type TellRemoved = (detail: { readonly removed: number }) => void;

/** Forgets the documents that an earlier try of this run has read. */
export async function clearDocuments(
  db: Database,
  { runId, tell }: { readonly runId: number; readonly tell: TellRemoved },
  kinds: readonly ReconcileDocumentRow['kind'][],
): Promise<void> {
  const which = 'run_id = :runId and kind = any (:kinds)';
  await removeBatches(db, which, { runId, kinds: [...kinds] }, { tell });
}

/** How long the end of a run removes documents, in milliseconds; what is left then, the next run removes. */
const REMOVING_MS = MINUTE;

/** Removes the documents of a run, and what runs that crashed a day ago have left of theirs. */
export async function removeDocuments(db: Database, runId: number, tell: TellRemoved): Promise<void> {
  const endsAt = performance.now() + REMOVING_MS;
  await removeBatches(db, 'run_id = :runId', { runId }, { tell, endsAt });
  const ofCrashed = `run_id = any (array(select r.id from reconcile_runs r
    where r.started_at < clock_ms() - interval '1 day'
      and exists (select 1 from reconcile_documents d where d.run_id = r.id)))`;
  await removeBatches(db, ofCrashed, {}, { tell, endsAt });
}

/** The rows of one statement: a full run of a large account has more of them than a statement has time for. */
const REMOVED_AT_ONCE = 5_000;

async function removeBatches(
  db: Database,
  which: string,
  bindings: Readonly<Record<string, unknown>>,
  { tell, endsAt = Infinity }: { readonly tell: TellRemoved; readonly endsAt?: number },
): Promise<void> {
  for (let removed = 0; performance.now() < endsAt;) {
    const { rowCount } = await db.raw<{ rowCount: number }>(
      `delete from reconcile_documents
        where ctid = any (array(select ctid from reconcile_documents where ${which} limit :batch))`,
      { ...bindings, batch: REMOVED_AT_ONCE } as never,
    );
    removed += rowCount;
    tell({ removed });
    if (rowCount < REMOVED_AT_ONCE) return;
  }
}

/** Keeps a page of documents for the run. A document that comes twice, because pages move, is kept as it came last. */
export async function insertDocuments(
  db: Database,
  runId: number,
  documents: readonly ProcessorDocument[],
): Promise<void> {
  const rows = [...new Map(documents.map((row) => [`${row.kind} ${row.id}`, row])).values()];
  if (rows.length === 0) return;
  await db('reconcile_documents')
    .insert(rows.map((row) => ({ run_id: runId, ...row })))
    .onConflict(['run_id', 'kind', 'id'])
    .merge();
}

/** Lists ids that our books name and that the lists of this run did not show: each is asked for by itself. */
async function listIds(db: Database, sql: string, bindings: Record<string, unknown>): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { id: string }[] }>(
    `${sql} order by 1 limit :limit`,
    bindings as never,
  );
  return rows.map(({ id }) => id);
}

interface Unlisted {
  readonly runId: number;
  readonly from: Date;
  readonly limit: number;
}

const standing = (source: string): string =>
  `select subject from reconcile_findings where source = '${source}' and state <> 'resolved'`;

const listed = (kinds: string): string =>
  `select id from reconcile_documents where run_id = :runId and kind in (${kinds})`;

/** Lists payments that were credited, or settled a debt, since then, and those that stand as a finding. */
export function listUnlistedPayments(db: Database, of: Unlisted): Promise<string[]> {
  return listIds(
    db,
    `select id from (
       select ${paymentOfCauseSql('c.cause')} as id
         from kept_entries e join ledger_causes c on c.wallet_id = e.wallet_id and c.seq = e.seq
        where e.type in ('processor_topup', 'auto_topup') and e.created_at >= :from
          and ${paymentOfCauseSql('c.cause')} is not null
       union select payment_id from invoices where payment_id is not null and paid_at >= :from
       union ${standing('charges')}
       except ${listed("'charge'")}
     ) ids`,
    { ...of },
  );
}

/**
 * Lists refunds and disputes whose row was made since then, or of which more is expected, and those that stand as a
 * finding.
 */
export function listUnlistedReversals(db: Database, of: Unlisted): Promise<string[]> {
  return listIds(
    db,
    `select id from (
       select id from refunds_and_disputes where created_at >= :from or closed_at is null
       union ${standing('reversals')}
       except ${listed("'refund', 'dispute'")}
     ) ids`,
    { ...of },
  );
}

/** Lists mirrors of invoices that were made since then, or that are not settled, and those that stand as a finding. */
export function listUnlistedInvoices(db: Database, of: Unlisted): Promise<string[]> {
  return listIds(
    db,
    `select id from (
       select processor_invoice_id as id from invoices
        where processor_invoice_id is not null and (created_at >= :from or closed_at is null)
       union ${standing('invoices')} and subject like 'in\\_%'
       except ${listed("'invoice'")}
     ) ids`,
    { ...of },
  );
}
