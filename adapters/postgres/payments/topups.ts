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
): Promise<TopupRow | undefined> {
  return db('topups').where({ id, user_id: userId }).first();
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
): Promise<TopupRow[]> {
  const query = db('topups').where({ user_id: userId }).orderBy('id', 'desc').limit(limit);
  if (onlyId !== undefined) void query.whereRaw('id = ?', [onlyId]);
  if (beforeId !== undefined) void query.where('id', '<', beforeId);
  return query;
}
