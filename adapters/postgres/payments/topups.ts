import type { TopupId, UserId } from '../../../domain/ids.js';
import type { Database, Transaction } from '../database.js';
import type { TopupRow } from '../rows/tables.js';

/** Finds a top-up of any user; undefined when there is none. */
export async function findTopup(db: Database | Transaction, id: TopupId): Promise<TopupRow | undefined> {
  return db('topups').where({ id }).first();
}

/** Reads a top-up. @throws when it is not there: the row of a top-up that was begun stays */
export async function getTopup(db: Database | Transaction, id: TopupId): Promise<TopupRow> {
  const topup = await findTopup(db, id);
  if (!topup) throw new Error(`no top-up ${id}`);
  return topup;
}

/** Finds a user's top-up; undefined for another user's, as for none (decision 5, "Foreign ids"). */
export async function findTopupOfUser(
  db: Database | Transaction,
  userId: UserId,
  id: TopupId,
): Promise<TopupOnRead | undefined> {
  return db('topups')
    .where({ id, user_id: userId })
    .first(...onRead(db));
}

/** A top-up with how much of its payment is taken back now, by refunds and disputes. */
export interface TopupOnRead extends TopupRow {
  readonly reversed_cents?: number;
}

function onRead(db: Database | Transaction) {
  const reversed = `(select least(coalesce(sum(r.amount_cents), 0), topups.credited_cents)::bigint
                       from refunds_and_disputes r
                      where r.payment_id = topups.payment_id and r.taken_at is not null and r.given_back_at is null)`;
  return ['topups.*', db.raw(`coalesce(${reversed}, 0)::bigint as reversed_cents`)] as const;
}

/**
 * Lists a user's top-ups, newest first: their ids sort by the time of the request.
 * @param beforeId the last one's id of the page before
 * @param onlyId the one that may be listed; undefined: all
 */
export async function listTopups(
  db: Database,
  userId: UserId,
  beforeId: TopupId | undefined,
  limit: number,
  onlyId?: string,
): Promise<TopupOnRead[]> {
  const query = db('topups')
    .where({ user_id: userId })
    .orderBy('id', 'desc')
    .limit(limit)
    .select(...onRead(db));
  if (onlyId !== undefined) void query.whereRaw('id = ?', [onlyId]);
  if (beforeId !== undefined) void query.where('id', '<', beforeId);
  return query;
}

/** Which card paid, as far as it is known. */
export interface CardOfPayment {
  readonly cardBrand: string | null;
  readonly cardLast4: string | null;
}

/** Finds the cards that paid these payments, by payment; one that is no top-up's is missing. */
export async function findCardsOfPayments(
  db: Database,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, CardOfPayment>> {
  const rows = await db('topups')
    .whereIn('payment_id', [...paymentIds])
    .select('payment_id', 'card_brand', 'card_last4');
  return new Map(
    rows.map((row) => [row.payment_id ?? '', { cardBrand: row.card_brand, cardLast4: row.card_last4 }]),
  );
}
