import type { EventData, EventType } from '../../../domain/events/events.js';
import type { UserId } from '../../../domain/ids.js';
import type { Database, Transaction } from '../database.js';

/** An event as the transaction knows it that makes it happen. */
export interface RecordedEvent<T extends EventType> {
  readonly type: T;
  readonly userId: UserId;
  /** The id of what it happened to. */
  readonly entityId: string;
  readonly data: EventData[T];
}

/**
 * Appends an event in the transaction of what it tells (decision 99, "One feed of events"). It takes no lock, so it may
 * stand anywhere in a transaction. Nothing keeps it from being recorded twice: the statement that makes the change
 * decides whether there was one.
 */
export async function recordEvent<T extends EventType>(
  trx: Database | Transaction,
  { type, userId, entityId, data }: RecordedEvent<T>,
): Promise<void> {
  await trx.raw('insert into event_outbox (user_id, type, entity_id, data) values (?, ?, ?, ?)', [
    userId,
    type,
    entityId,
    JSON.stringify(data),
  ]);
}

/** Appends several events of one type, as `recordEvent` does, in their order and by one statement. */
export async function recordEvents<T extends EventType>(
  trx: Database | Transaction,
  type: T,
  events: readonly Omit<RecordedEvent<T>, 'type'>[],
): Promise<void> {
  if (events.length === 0) return;
  await trx.raw(
    `insert into event_outbox (user_id, type, entity_id, data)
     select event ->> 'userId', :type, event ->> 'entityId', event -> 'data'
       from jsonb_array_elements(:events::jsonb) with ordinality as e (event, place)
      order by place`,
    { type, events: JSON.stringify(events) },
  );
}
