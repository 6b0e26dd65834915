import type { RentalId, UserId } from '../../../domain/ids.js';
import type { Database } from '../database.js';
import { hasNoFreshSignal } from './look-signals.js';
import { isNotWaiting } from './stuck-items.js';
import type { IntentRow } from '../rows/tables.js';

export interface DueIntent {
  readonly id: number;
  readonly kind: IntentRow['kind'];
  readonly rentalId: RentalId | null;
  readonly userId: UserId;
}

/**
 * Lists the intents that nobody has acknowledged and that are due now, those first that were never delivered. Delivery
 * is at least once: the transaction that acts on an intent acknowledges it. An unacknowledged intent is delivered again
 * after 10 s and then ever more rarely, up to once an hour; so is one whose workflow can't be told (decision 69, "Items
 * that fail").
 */
export async function listDueIntents(db: Database, atMost: number): Promise<DueIntent[]> {
  const { rows } = await db.raw<{ rows: DueIntent[] }>(
    `select i.id, i.kind, r.id as "rentalId", w.user_id as "userId"
       from intents i join wallets w on w.id = i.wallet_id left join rentals r on r.no = i.rental_no
      where i.acknowledged_at is null
        and (i.delivered_at is null or ${isDueAgain('i.delivered_at', 'i.created_at')})
        and case when i.kind = 'low_balance' then ${isNotWaiting('warning', 'i.id::text')}
                 else ${isNotWaiting('workflow', toldWorkflow)} and ${hasNoFreshSignal(toldWorkflow)} end
      order by i.delivered_at nulls first, i.id limit :atMost`,
    { atMost },
  );
  return rows;
}

/** The workflow that gets an intent: its rental's workflow, or the auto-topup of its user. */
const toldWorkflow = `coalesce(r.id, 'auto-topup:' || w.user_id)`;

/**
 * SQL that holds when an unfinished item is to be told again: after 10 s, and then each time after as long as it has
 * waited already, up to an hour. An instant that lies ahead is of a clock that was set back since: it says nothing.
 * @param toldAt SQL of when it was told last
 * @param since SQL of since when it is to be done
 */
export function isDueAgain(toldAt: string, since: string): string {
  return `(${toldAt} > (select clock_ms())
    or ${toldAt} < (select clock_ms()) - greatest(interval '10 seconds', least(interval '1 hour', ${toldAt} - ${since})))`;
}

export async function markDelivered(db: Database, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await db('intents')
    .whereIn('id', ids)
    .update({ delivered_at: db.raw('clock_ms()') });
}
