import type { UserId } from '../../../domain/ids.js';
import type { Transaction } from '../database.js';

/**
 * Notes what an account has in common with others, whatever is known of it already (decision 83, "Cost of one caller").
 * @param kind and value: the fingerprint of a card by which it paid or that it saved, or the address that made it
 */
export async function tieAccount(
  trx: Transaction,
  userId: UserId,
  kind: 'card' | 'address',
  value: string,
): Promise<void> {
  const inserting = trx('account_ties').insert({ user_id: userId, kind, value });
  if (kind === 'address') await inserting.onConflict().ignore();
  else await inserting.onConflict(['kind', 'value', 'user_id']).merge({ tied_at: trx.raw('clock_ms()') });
}
