import type { UserId } from '../../../domain/ids.js';
import type { Database } from '../database.js';

/**
 * Notes that a user begins to save a card.
 * @returns the number that makes its key at the processor
 */
export async function beginCardSetup(db: Database, userId: UserId): Promise<number> {
  const [row] = await db('card_setups').insert({ user_id: userId }).returning('no');
  if (!row) throw new Error('inserting a card setup answered no row');
  return row.no;
}

export async function recordCardSetup(db: Database, no: number, setupId: string): Promise<void> {
  await db('card_setups').where({ no }).update({ setup_id: setupId });
}
