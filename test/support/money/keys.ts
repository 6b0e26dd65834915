import type { Database } from '../../../adapters/postgres/database.js';
import type { ApiKeyRow } from '../../../adapters/postgres/rows/tables.js';
import type { ApiKeyId, UserId } from '../../../domain/ids.js';
import { insertApiKeyOf } from './factories.js';

/** A key that rents, with this cap in cents; null: without one. @param columns overrides */
export async function insertKey(
  db: Database,
  userId: UserId,
  spendCapCents: number | null,
  columns: Partial<ApiKeyRow> = {},
): Promise<ApiKeyId> {
  const { row } = await insertApiKeyOf(db, userId, { scopes: ['read', 'rentals'], spendCapCents });
  if (Object.keys(columns).length > 0) await db('api_keys').where({ id: row.id }).update(columns);
  return row.id;
}

export async function getKey(db: Database, id: ApiKeyId): Promise<ApiKeyRow> {
  const key = await db('api_keys').where({ id }).first();
  if (!key) throw new Error('no key');
  return key;
}
