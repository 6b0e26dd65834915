import type { InvoiceId } from '../../domain/ids.js';
import { unsettledStatuses } from '../../domain/payments/invoices.js';
import { operationLimits } from '../../domain/operations/limits.js';
import { dunning } from '../../domain/payments/dunning.js';
import type { ProcessorInvoice } from '../../adapters/processor/processor.js';
import { isOlderSql, readClock } from '../../adapters/postgres/clock.js';
import type { Database } from '../../adapters/postgres/database.js';
import { tellInvoice } from './invoice-events.js';
import { isDueAgain } from '../../adapters/postgres/upkeep/intents.js';
import { mailGivenUp, mailOpenedInvoice } from '../../adapters/postgres/invoices/invoice-mails.js';
import { hasNoFreshSignal } from '../../adapters/postgres/upkeep/look-signals.js';
import { isNotWaiting } from '../../adapters/postgres/upkeep/stuck-items.js';
import type { InvoiceRow } from '../../adapters/postgres/rows/tables.js';

/** Records the id of an invoice's mirror, whatever has become of the invoice meanwhile. */
export async function recordMirror(db: Database, id: InvoiceId, processorInvoiceId: string): Promise<void> {
  await db('invoices')
    .where({ id })
    .whereNull('processor_invoice_id')
    .update({ processor_invoice_id: processorInvoiceId });
}

/**
 * Opens a draft whose mirror is open: it can be paid now. An invoice that is already open gets its pages as they are
 * now. The same transaction tells the user, where they are not told otherwise.
 */
export async function becomeOpen(
  db: Database,
  id: InvoiceId,
  mirror: ProcessorInvoice,
  dayMs: number,
): Promise<void> {
  const pages = { hosted_invoice_url: mirror.hostedInvoiceUrl, invoice_pdf_url: mirror.invoicePdfUrl };
  await db.transaction(async (trx) => {
    const at = await readClock(trx);
    const [opened] = await trx('invoices')
      .where({ id, status: 'draft' })
      .update({
        status: 'open',
        ...pages,
        finalized_at: at,
        due_at: new Date(at.getTime() + dunning.dueDays * dayMs),
      })
      .returning('*');
    if (opened) {
      await tellInvoice(trx, 'invoice.opened', opened);
      return mailOpenedInvoice(trx, opened);
    }
    await trx('invoices').where({ id, status: 'open' }).update(pages);
  });
}

/** Voids an invoice that the processor voided or that never was there. An invoice that is paid stays paid. */
export async function becomeVoid(db: Database, id: InvoiceId): Promise<void> {
  await db.transaction(async (trx) => {
    const [voided] = await trx('invoices')
      .where({ id })
      .whereIn('status', unsettledStatuses)
      .update({ status: 'void', voided_at: trx.raw('clock_ms()'), closed_at: trx.raw('clock_ms()') })
      .returning('*');
    if (voided) await tellInvoice(trx, 'invoice.voided', voided);
  });
}

/** Gives an invoice up; it can still be paid. The same transaction tells its user. */
export async function becomeUncollectible(db: Database, id: InvoiceId): Promise<void> {
  await db.transaction(async (trx) => {
    const [givenUp] = await trx('invoices')
      .where({ id })
      .whereIn('status', ['draft', 'open'])
      .update({ status: 'uncollectible', closed_at: trx.raw('clock_ms()') })
      .returning('*');
    if (!givenUp) return;
    await tellInvoice(trx, 'invoice.uncollectible', givenUp);
    await mailGivenUp(trx, givenUp);
  });
}

/** Clears the wish for a look at an invoice, unless somebody asked again meanwhile. */
export async function clearAttention(db: Database, row: InvoiceRow): Promise<void> {
  if (row.attention_at === null) return;
  await db('invoices')
    .where({ id: row.id, attention_at: row.attention_at })
    .update({ attention_at: null, told_at: null });
}

/** Lists invoices that somebody wants looked at, and whose workflow was not signalled lately. */
export async function listInvoicesToSignal(db: Database): Promise<InvoiceId[]> {
  const rows = await db('invoices')
    .whereNotNull('attention_at')
    .whereRaw(`(told_at is null or ${isDueAgain('told_at', 'attention_at')})`)
    .whereRaw(isNotWaiting('workflow', 'invoices.id'))
    .whereRaw(hasNoFreshSignal('invoices.id'))
    .orderBy('attention_at')
    .limit(500)
    .select('id');
  return rows.map(({ id }) => id);
}

export async function markSignalled(db: Database, ids: readonly InvoiceId[]): Promise<void> {
  if (ids.length === 0) return;
  await db('invoices')
    .whereIn('id', ids)
    .update({ told_at: db.raw('clock_ms()') });
}

/**
 * Lists all invoices of which something is expected and that are older than a moment: each should have a workflow, and
 * is compared with the list of those that run. A debt is open for a month at most, and a user has one offer, so there
 * are no more than can be read by an index at once.
 */
export async function listUnclosedInvoices(db: Database): Promise<InvoiceId[]> {
  const rows = await db('invoices')
    .whereNull('closed_at')
    .whereRaw(isOlderSql('created_at', operationLimits.reviveAfterMs))
    .select('id');
  return rows.map(({ id }) => id);
}
