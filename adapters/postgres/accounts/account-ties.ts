import type { UserId } from '../../../domain/ids.js';
import { isMark, markOf } from '../../closed-marks.js';
import type { Database, Transaction } from '../database.js';

/**
 * Notes what an account has in common with others, whatever is known of it already (decision 83, "Cost of one caller").
 * @param kind and value: the fingerprint of a card by which it paid or that it saved, the address that made it, or the mark of its
 * mailbox
 */
export async function tieAccount(
  trx: Database | Transaction,
  userId: UserId,
  kind: 'card' | 'address' | 'mailbox',
  value: string,
): Promise<void> {
  const inserting = trx('account_ties').insert({ user_id: userId, kind, value });
  if (kind === 'address') await inserting.onConflict().ignore();
  else await inserting.onConflict(['kind', 'value', 'user_id']).merge({ tied_at: trx.raw('clock_ms()') });
}

/**
 * Ties an account to the marks of its mailbox and its cards, by which closed accounts are recognized (decision 183, "What
 * closing erases"). It may be called again.
 * @param installationKey in base64; empty: no closed account has left anything
 */
export async function tieToMarks(
  db: Database | Transaction,
  userId: UserId,
  installationKey: string | undefined,
): Promise<void> {
  if (!installationKey) return;
  const user = await db('users').where({ id: userId }).first('email');
  if (user) await tieAccount(db, userId, 'mailbox', markOf(installationKey, 'mailbox', user.email));
  for (const fingerprint of await listCards(db, userId))
    await tieAccount(db, userId, 'card', markOf(installationKey, 'card', fingerprint));
}

/** Lists the fingerprints of the cards by which an account paid, and of those that it has saved. */
export async function listCards(db: Database | Transaction, userId: UserId): Promise<string[]> {
  const ties = await db('account_ties').where({ user_id: userId, kind: 'card' }).select('value');
  const saved = await db('saved_cards')
    .where({ user_id: userId })
    .whereNull('removed_at')
    .select('fingerprint');
  const all = [...ties.map(({ value }) => value), ...saved.map(({ fingerprint }) => fingerprint ?? '')];
  return [...new Set(all)].filter((value) => value !== '' && !isMark(value));
}
