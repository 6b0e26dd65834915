import type { RentalRequest } from '../../../domain/rentals/request.js';
import type { AnyPot } from '../../../domain/spending/pots.js';
import type { Database, Transaction } from '../database.js';
import { findHardBudget } from './budgets.js';
import { findCap, getLiveKey, type Lock } from './caps.js';

/**
 * Finds what a rental must fit into: the cap of the key that asks for it, and the hard budget of its account.
 * @param lock `locked`: both stay as they are until the transaction ends; its wallet is locked before
 * @throws Refusal why the key is not alive
 */
export async function findPots(
  db: Database | Transaction,
  { userId, apiKeyId }: Pick<RentalRequest, 'userId' | 'apiKeyId'>,
  lock: Lock,
): Promise<AnyPot[]> {
  const key = apiKeyId === undefined ? undefined : await getLiveKey(db, userId, apiKeyId, lock);
  const cap = key && (await findCap(db, key));
  const budget = await findHardBudget(db, userId, lock, cap?.apiKeyId);
  return [cap, budget].filter((pot) => pot !== undefined);
}
