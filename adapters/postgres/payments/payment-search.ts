import { causeOf } from '../../../domain/causes.js';
import type { LedgerEntryId, TopupId, UserId } from '../../../domain/ids.js';
import type { TopupStatus } from '../../../domain/payments/topup.js';
import type { Database } from '../database.js';
import { findTopupOfPayment } from '../explain/entry-documents.js';
import { getLedgerIds } from '../ledger/ledger-ids.js';
import type { ParkedPaymentRow, ProcessorEventRow, TopupRow } from '../rows/tables.js';

export interface TopupFilter {
  readonly userId?: UserId | undefined;
  readonly status?: TopupStatus | undefined;
  /** Only those whose payment is not decided. */
  readonly open?: boolean | undefined;
}

/** Lists top-ups of all users, newest first. */
export async function listAllTopups(db: Database, filter: TopupFilter, limit: number): Promise<TopupRow[]> {
  const query = db('topups').orderBy('id', 'desc').limit(limit);
  if (filter.userId !== undefined) void query.where({ user_id: filter.userId });
  if (filter.status !== undefined) void query.where({ status: filter.status });
  if (filter.open === true) void query.whereNull('closed_at');
  return query;
}

/** Finds a top-up by our id, or by an id that the user has on paper: payment, charge, or session. */
export async function findTopupBy(db: Database, id: string): Promise<TopupRow | undefined> {
  const named = await db('topups')
    .where({ id: id as TopupId })
    .orWhere({ payment_id: id })
    .orWhere({ session_id: id })
    .first();
  if (named) return named;
  const charged = await db('topups').where({ charge_id: id }).first();
  return charged ?? findTopupOfPayment(db, id);
}

/** A top-up with all that was paid on it. */
export interface TopupHistory {
  readonly topup: TopupRow;
  /** The entries that credited it; a page that was paid twice has two. */
  readonly credits: readonly { readonly entryId: LedgerEntryId; readonly at: Date; readonly cents: number }[];
  readonly events: readonly ProcessorEventRow[];
  readonly parked: readonly ParkedPaymentRow[];
}

export async function readTopupHistory(db: Database, topup: TopupRow): Promise<TopupHistory> {
  const ids = await getLedgerIds(db);
  const events = await eventsAbout(db, topup);
  const paymentIds = [
    ...new Set([
      ...(topup.payment_id === null ? [] : [topup.payment_id]),
      ...events.flatMap(({ object }) =>
        object['object'] === 'payment_intent' ? [String(object['id'])] : [],
      ),
    ]),
  ];
  const { rows } = await db.raw<{
    rows: { wallet_id: number; seq: number; at: Date; cents: number }[];
  }>(
    `select e.wallet_id, e.seq, e.created_at as at, e.amount_cents as cents
       from ledger_causes c join kept_entries e on e.wallet_id = c.wallet_id and e.seq = c.seq
      where c.cause = any (:causes::text[]) order by e.seq`,
    { causes: paymentIds.map((paymentId) => causeOf({ kind: 'payment', paymentId })) },
  );
  const parked = await db('parked_payments')
    .where({ topup_id: topup.id })
    .orWhereIn('payment_id', paymentIds);
  return {
    topup,
    credits: rows.map(({ wallet_id: walletId, seq, at, cents }) => ({
      entryId: ids.of(walletId, seq),
      at,
      cents,
    })),
    events,
    parked,
  };
}

async function eventsAbout(db: Database, topup: TopupRow): Promise<ProcessorEventRow[]> {
  const ids = [topup.session_id, topup.payment_id].filter((id) => id !== null);
  return db('processor_events')
    .where({ workflow_id: topup.id })
    .orWhereIn(db.raw(`object ->> 'id'`) as unknown as string, ids)
    .orderBy('created_at');
}

export interface EventFilter {
  /** Only those on which their workflow has not acted yet. */
  readonly unhandled?: boolean | undefined;
  readonly workflowId?: string | undefined;
  readonly kind?: string | undefined;
  /** About this object of the processor: a payment, a session, a refund, a dispute, an invoice. */
  readonly objectId?: string | undefined;
}

/** Lists events of the payment processor as they came, newest first. */
export async function listEvents(
  db: Database,
  filter: EventFilter,
  limit: number,
): Promise<ProcessorEventRow[]> {
  const query = db('processor_events').orderBy('received_at', 'desc').limit(limit);
  if (filter.unhandled === true) void query.whereNull('handled_at');
  if (filter.workflowId !== undefined) void query.where({ workflow_id: filter.workflowId });
  if (filter.kind !== undefined) void query.where({ kind: filter.kind });
  if (filter.objectId !== undefined) void query.whereRaw(`object ->> 'id' = ?`, [filter.objectId]);
  return query;
}

export async function findEvent(db: Database, id: string): Promise<ProcessorEventRow | undefined> {
  return db('processor_events').where({ id }).first();
}

/** Lists payments that came in, could not be credited, and that no operator has resolved; the oldest first. */
export async function listParkedPayments(db: Database): Promise<ParkedPaymentRow[]> {
  return db('parked_payments').whereNull('resolved_at').orderBy('parked_at');
}
