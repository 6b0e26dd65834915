import { isUnacceptable } from '../../adapters/postgres/availability.js';
import { compareCharges } from '../../adapters/postgres/reconcile/charges.js';
import {
  clearDocuments,
  insertDocuments,
  listUnlistedInvoices,
  listUnlistedPayments,
  listUnlistedReversals,
  type ProcessorDocument,
} from '../../adapters/postgres/reconcile/documents.js';
import { compareInvoices } from '../../adapters/postgres/reconcile/invoices.js';
import { compareReversals } from '../../adapters/postgres/reconcile/reversals.js';
import {
  type Dispute,
  type ListedCharge,
  type Page,
  type ProcessorInvoice,
  type Refund,
  unlessMissing,
} from '../../adapters/processor/processor.js';
import { operationLimits } from '../../domain/operations/limits.js';
import type { Finding } from '../../domain/operations/reconcile.js';
import type { ActivityDeps } from '../deps.js';
import type { FailedItems } from './failed-items.js';

/** One comparison under way. */
export interface Look {
  readonly runId: number;
  readonly from: Date;
  readonly graceMs: number;
  readonly tell: (detail: unknown) => void;
  readonly unread: FailedItems;
}

/** The gathered things of one source: how to compare them, and why some could not be gathered. */
export interface Gathered {
  readonly compare: () => Promise<Finding[]>;
  readonly why: string | null;
}

type Kind = ProcessorDocument['kind'];

/** Reads the charges since an instant, and each payment that our books name beside them. */
export async function gatherCharges(deps: ActivityDeps, look: Look): Promise<Gathered> {
  const { db, processor } = deps;
  await clearDocuments(db, look, ['charge']);
  const pages = await recordPages(
    deps,
    look,
    (after) => processor.listCharges({ since: look.from, after }),
    chargeDocument,
  );
  const lookups = await lookUp(deps, look, listUnlistedPayments, async (id) => {
    const charge = await processor.findCharge(id);
    return charge === null ? missing('charge', id) : { ...chargeDocument(charge), id, at: null };
  });
  return { compare: () => compareCharges(db, look.runId, look.graceMs), why: pages ?? lookups };
}

/** Reads the refunds and disputes since an instant, and each that our books expect more of. */
export async function gatherReversals(deps: ActivityDeps, look: Look): Promise<Gathered> {
  const { db, processor } = deps;
  const { from: since } = look;
  await clearDocuments(db, look, ['refund', 'dispute']);
  const gaps = [
    await recordPages(
      deps,
      look,
      (after) => processor.listRefunds({ since, after }),
      (refund) => ({ ...refundDocument(refund), at: refund.changedAt }),
    ),
    await recordPages(
      deps,
      look,
      (after) => processor.listDisputes({ since, after }),
      (dispute) => ({ ...disputeDocument(dispute), at: dispute.changedAt }),
    ),
    await lookUp(deps, look, listUnlistedReversals, async (id) => {
      const kind = /^(re|pyr)_/.test(id) ? 'refund' : 'dispute';
      if (kind === 'refund') {
        const refund = await unlessMissing(() => processor.getRefund(id));
        return refund ? refundDocument(refund) : missing(kind, id);
      }
      const dispute = await unlessMissing(() => processor.getDispute(id));
      return dispute ? disputeDocument(dispute) : missing(kind, id);
    }),
  ];
  return {
    compare: () => compareReversals(db, look.runId, look.graceMs),
    why: gaps.find((gap) => gap !== null) ?? null,
  };
}

/** Reads the invoices since an instant and all that are open there, and each that is open here. */
export async function gatherInvoices(deps: ActivityDeps, look: Look): Promise<Gathered> {
  const { db, processor } = deps;
  await clearDocuments(db, look, ['invoice']);
  const document = (invoice: ProcessorInvoice & { changedAt: Date }): ProcessorDocument => ({
    ...invoiceDocument(invoice),
    at: invoice.changedAt,
  });
  const gaps = [
    await recordPages(deps, look, (after) => processor.listInvoices({ since: look.from, after }), document),
    await recordPages(deps, look, (after) => processor.listInvoices({ open: true, after }), document),
    await lookUp(
      deps,
      look,
      listUnlistedInvoices,
      async (id) =>
        (await unlessMissing(async () => invoiceDocument(await processor.getInvoice(id)))) ??
        missing('invoice', id),
    ),
  ];
  return {
    compare: () => compareInvoices(db, look.runId, look.graceMs),
    why: gaps.find((gap) => gap !== null) ?? null,
  };
}

/**
 * Goes through a list page by page.
 * @returns why it stopped before the end; null when it did not
 */
async function recordPages<T>(
  { db }: ActivityDeps,
  { runId, tell, unread }: Look,
  list: (after: string | null) => Promise<Page<T>>,
  documentOf: (item: T) => ProcessorDocument,
): Promise<string | null> {
  let after: string | null = null;
  let read = 0;
  for (let pages = 0; pages < operationLimits.reconcilePages; pages += 1) {
    const page: Page<T> = await list(after);
    for (const { id, error } of page.unread) unread.record(id, error);
    await recordEach(db, { runId, unread }, page.items.map(documentOf));
    read += page.items.length;
    tell({ read, pages: pages + 1 });
    after = page.after;
    if (after === null) return null;
  }
  return `the processor's list is longer than ${operationLimits.reconcilePages} pages: what is older was not compared`;
}

/** Records each item of a page. One that the database does not take keeps no other from it. */
async function recordEach(
  db: ActivityDeps['db'],
  { runId, unread }: Pick<Look, 'runId' | 'unread'>,
  documents: readonly ProcessorDocument[],
): Promise<void> {
  try {
    await insertDocuments(db, runId, documents);
  } catch (error) {
    if (!isUnacceptable(error)) throw error;
    for (const document of documents) {
      await unread.unlessItFails(document.id, () => insertDocuments(db, runId, [document]));
    }
  }
}

/**
 * Asks for each thing that our books name and no list showed.
 * @returns why not all could be asked for; null when all were
 */
async function lookUp(
  { db }: ActivityDeps,
  { runId, from, tell, unread }: Look,
  listUnlisted: typeof listUnlistedPayments,
  ask: (id: string) => Promise<ProcessorDocument>,
): Promise<string | null> {
  const ids = await listUnlisted(db, { runId, from, limit: operationLimits.reconcileLookups + 1 });
  for (const [position, id] of ids.slice(0, operationLimits.reconcileLookups).entries()) {
    await unread.unlessItFails(id, async () => insertDocuments(db, runId, [await ask(id)]));
    tell({ lookedUp: position + 1, of: ids.length });
  }
  return ids.length <= operationLimits.reconcileLookups
    ? null
    : `more than ${operationLimits.reconcileLookups} things of our books are in no list of the processor: is it another account?`;
}

function missing(kind: Kind, id: string): ProcessorDocument {
  return { kind, id, status: 'missing' };
}

function chargeDocument(charge: ListedCharge): ProcessorDocument {
  return {
    kind: 'charge',
    id: charge.paymentId ?? charge.chargeId,
    status: 'succeeded',
    payment_id: charge.paymentId,
    charge_id: charge.chargeId,
    our_id: charge.topupId,
    customer_id: charge.customerId,
    amount_cents: charge.amountCents,
    currency: charge.currency,
    refunded_cents: charge.refundedCents,
    at: charge.changedAt,
  };
}

function refundDocument(refund: Refund): ProcessorDocument {
  const returned = refund.status === 'failed' || refund.status === 'canceled';
  return {
    kind: 'refund',
    id: refund.refundId,
    status: refund.status,
    payment_id: refund.paymentId,
    charge_id: refund.chargeId,
    amount_cents: refund.amountCents,
    currency: refund.currency,
    taken: !returned,
    returned,
  };
}

function disputeDocument(dispute: Dispute): ProcessorDocument {
  return {
    kind: 'dispute',
    id: dispute.disputeId,
    status: dispute.status,
    payment_id: dispute.paymentId,
    charge_id: dispute.chargeId,
    amount_cents: dispute.amountCents,
    currency: dispute.currency,
    taken: dispute.withdrawn,
    returned: dispute.reinstated,
  };
}

function invoiceDocument(invoice: ProcessorInvoice): ProcessorDocument {
  return {
    kind: 'invoice',
    id: invoice.processorInvoiceId,
    status: invoice.status,
    payment_id: invoice.paymentId,
    our_id: invoice.invoiceId,
    customer_id: invoice.customerId,
    amount_cents: invoice.totalCents,
    currency: invoice.currency,
  };
}
