import type { ApiKeyId, UserId } from '../../../domain/ids.js';
import type { Database, Transaction } from '../database.js';
import { recordEvents } from '../events/outbox.js';
import type { ApiKeyRow } from '../rows/tables.js';

/**
 * Lists a user's keys, the newest first; ended ones stay in the list for as long as they are kept.
 * @param before only keys that were made before this one
 */
export async function listApiKeys(
  db: Database,
  userId: UserId,
  before: ApiKeyId | undefined,
  limit: number,
): Promise<ApiKeyRow[]> {
  const query = db('api_keys').where({ user_id: userId }).orderBy('id', 'desc').limit(limit);
  return before === undefined ? query : query.andWhere('id', '<', before);
}

/** Finds a key of a user; undefined for another user's, as for none (decision 5, "Foreign ids"). */
export async function findApiKeyOf(
  db: Database | Transaction,
  userId: UserId,
  id: ApiKeyId,
): Promise<ApiKeyRow | undefined> {
  return db('api_keys').where({ id, user_id: userId }).first();
}

/** Locks a key that is not revoked, for a change. */
export async function lockApiKey(
  trx: Transaction,
  userId: UserId,
  id: ApiKeyId,
): Promise<ApiKeyRow | undefined> {
  return unrevoked(trx, userId, id).forNoKeyUpdate().first('*');
}

/** What a user may change of a key. A field that is left out stays. */
export interface ApiKeyChange {
  readonly name?: string | undefined;
  readonly allowedCidrs?: readonly string[] | null | undefined;
  /** As `setCap` has set it. */
  readonly spendCapCents?: number | null | undefined;
}

/** Reads the key by which something is done, and keeps it from being revoked until this transaction ends. */
export async function lockKeyInUse(trx: Transaction, userId: UserId, id: ApiKeyId): Promise<ApiKeyRow> {
  const row = await trx('api_keys').where({ id, user_id: userId }).forShare().first();
  if (!row) throw new Error(`the key ${id} is gone although it was used`);
  return row;
}

/** Changes a key that this transaction has locked. @returns its row then */
export async function changeApiKey(
  trx: Transaction,
  id: ApiKeyId,
  { name, allowedCidrs, spendCapCents }: ApiKeyChange,
): Promise<ApiKeyRow> {
  // Its streams were opened from where it might be used before, and a key with a cap sees its own rentals alone.
  if (allowedCidrs !== undefined || spendCapCents !== undefined)
    await trx('open_streams').where({ api_key_id: id }).update({ outdated: true });
  const [row] = await trx('api_keys')
    .where({ id })
    .update({
      ...(name !== undefined && { name }),
      ...(allowedCidrs !== undefined && { allowed_cidrs: allowedCidrs && [...allowedCidrs] }),
      ...(spendCapCents !== undefined && { spend_cap_cents: spendCapCents }),
    })
    .returning('*');
  if (!row) throw new Error(`the key ${id} is gone although it was locked`);
  return row;
}

/**
 * Revokes a key for good, and tells it.
 * @returns its row; 'before' when it was revoked before; undefined when the user has none such
 */
export async function revokeApiKey(
  trx: Transaction,
  userId: UserId,
  id: ApiKeyId,
): Promise<ApiKeyRow | 'before' | undefined> {
  const [revoked] = await revokeApiKeysOf(trx, userId, id);
  return revoked ?? ((await findApiKeyOf(trx, userId, id)) && 'before');
}

/** Locks all keys of a user that are not revoked, or this one, for a change. */
export async function lockApiKeysOf(
  trx: Transaction,
  userId: UserId,
  id: ApiKeyId | undefined,
): Promise<void> {
  await unrevoked(trx, userId, id).orderBy('id').forNoKeyUpdate().select('id');
}

/**
 * Revokes all keys of a user, or this one, for good, and tells each.
 * @returns those that were revoked now
 */
export async function revokeApiKeysOf(
  trx: Transaction,
  userId: UserId,
  id: ApiKeyId | undefined,
): Promise<ApiKeyRow[]> {
  const revoked = await unrevoked(trx, userId, id)
    .update({ revoked_at: trx.raw('clock_ms()') })
    .returning('*');
  const told = revoked.map((row) => ({ userId, entityId: row.id, data: {} }));
  await recordEvents(trx, 'api_key.revoked', told);
  return revoked;
}

const unrevoked = (trx: Transaction, userId: UserId, id: ApiKeyId | undefined) =>
  trx('api_keys')
    .where({ user_id: userId, ...(id !== undefined && { id }) })
    .whereNull('revoked_at');
