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

/** Lists customers at the processor, those of the newest users first. */
export async function listCustomerIds(db: Database, limit: number): Promise<string[]> {
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
