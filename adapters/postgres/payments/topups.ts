import type { TopupId, UserId } from '../../../domain/ids.js';
import type { Database, Transaction } from '../database.js';
import type { TopupRow } from '../rows/tables.js';

/** A user's top-up; undefined for another user's just as for none (decision 5). */
export async function findTopup(
  db: Database | Transaction,
  userId: UserId,
  id: TopupId,
): Promise<TopupRow | undefined> {
  return db('topups').where({ id, user_id: userId }).first();
}

/**
 * A user's top-ups, newest first: their ids sort by the time at which they were asked for.
 * @param beforeId the last one's id of the page before
 */
export async function listTopups(
  db: Database,
  userId: UserId,
  beforeId: TopupId | undefined,
  limit: number,
): Promise<TopupRow[]> {
  const query = db('topups').where({ user_id: userId }).orderBy('id', 'desc').limit(limit);
  if (beforeId !== undefined) void query.where('id', '<', beforeId);
  return query;
}
