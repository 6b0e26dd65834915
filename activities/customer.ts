import type { UserId } from '../domain/ids.js';
import type { ActivityDeps } from './deps.js';

/**
 * The processor's customer of a user, made when there is none. No lock is held over the call: its key is made of
 * the user's id, so two at once make one.
 */
export async function ensureCustomer(deps: ActivityDeps, userId: UserId): Promise<string> {
  const user = await deps.db('users').where({ id: userId }).first();
  if (!user) throw new Error(`no user ${userId}`);
  if (user.processor_customer_id !== null) return user.processor_customer_id;
  const { customerId } = await deps.processor.createCustomer({ userId, email: user.email });
  await deps
    .db('users')
    .where({ id: userId })
    .whereNull('processor_customer_id')
    .update({ processor_customer_id: customerId });
  return customerId;
}
