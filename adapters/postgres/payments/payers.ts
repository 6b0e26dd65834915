import type { UserId } from '../../../domain/ids.js';
import type { Database } from '../database.js';

/** Finds the id of a user who exists here; undefined for one who does not. */
export async function findUserId(db: Database, id: UserId): Promise<UserId | undefined> {
  return (await db('users').where({ id }).first('id'))?.id;
}

/** Finds the user of a customer at the processor; undefined when it is nobody's here. */
export async function findUserIdOfCustomer(db: Database, customerId: string): Promise<UserId | undefined> {
  return (await db('users').where({ processor_customer_id: customerId }).first('id'))?.id;
}

/** Tells whether a customer at the processor is this user's own. */
export async function isCustomerOf(db: Database, userId: UserId, customerId: string): Promise<boolean> {
  const user = await db('users').where({ id: userId, processor_customer_id: customerId }).first('id');
  return user !== undefined;
}

/**
 * Lists customers at the processor: of those who paid last, since a payment that was credited came from our account, and
 * before anybody has paid of the newest users.
 */
export async function listCustomerIds(db: Database, limit: number): Promise<string[]> {
  const payers = await db('topups as t')
    .join('users as u', 'u.id', 't.user_id')
    .whereNotNull('t.credited_at')
    .whereNotNull('u.processor_customer_id')
    .orderBy('t.id', 'desc')
    .limit(10 * limit)
    .pluck<string[]>('u.processor_customer_id');
  if (payers.length > 0) return [...new Set(payers)].slice(0, limit);
  return db('users')
    .whereNotNull('processor_customer_id')
    .orderBy('id', 'desc')
    .limit(limit)
    .pluck<string[]>('processor_customer_id');
}

/** Finds the processor's customer of a user; null when none was made. */
export async function findCustomerId(db: Database, userId: UserId): Promise<string | null> {
  const user = await db('users').where({ id: userId }).first('processor_customer_id');
  return user?.processor_customer_id ?? null;
}
