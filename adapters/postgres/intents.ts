import type { RentalId, UserId } from '../../domain/ids.js';
import type { Database } from './database.js';
import type { IntentKind } from './tables.js';

export interface DueIntent {
  readonly id: number;
  readonly kind: IntentKind;
  readonly rentalId: RentalId | null;
  readonly userId: UserId;
}

/**
 * The intents that nobody acknowledged yet and that were not delivered lately. Delivery is at least once: the
 * transaction that acts on an intent acknowledges it.
 */
export async function listDueIntents(db: Database, atMost: number): Promise<DueIntent[]> {
  const { rows } = await db.raw<{ rows: DueIntent[] }>(
    `select i.id, i.kind, r.id as "rentalId", w.user_id as "userId"
       from intents i join wallets w on w.id = i.wallet_id left join rentals r on r.no = i.rental_no
      where i.acknowledged_at is null
        and (i.delivered_at is null or i.delivered_at < clock_ms() - interval '10 seconds')
      order by i.id limit :atMost`,
    { atMost },
  );
  return rows;
}

export async function markDelivered(db: Database, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await db('intents')
    .whereIn('id', ids)
    .update({ delivered_at: db.raw('clock_ms()') });
}
