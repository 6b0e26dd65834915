import type { UserId } from '../domain/ids.js';
import type { Database } from './postgres/database.js';
import type { Processor } from './processor/processor.js';

/**
 * Returns the processor's customer of a user, and makes one when there is none. No lock is held over the call: its key
 * is made of the user's id, so two simultaneous calls make one customer.
 * @throws ProcessorError
 */
export async function ensureCustomer(
  { db, processor }: { readonly db: Database; readonly processor: Processor },
  userId: UserId,
): Promise<string> {
  const user = await db('users').where({ id: userId }).first();
  if (!user) throw new Error(`no user ${userId}`);
  if (user.processor_customer_id !== null) return user.processor_customer_id;
  const { customerId } = await processor.createCustomer({ userId, email: user.email });
  const [kept] = await db('users')
    .where({ id: userId })
    // The first one that was written down stays: the processor forgets a key after a day.
    .update({ processor_customer_id: db.raw('coalesce(processor_customer_id, ?)', [customerId]) })
    .returning('processor_customer_id');
  return kept?.processor_customer_id ?? customerId;
}
