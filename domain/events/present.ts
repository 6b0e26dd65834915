import type { EventId } from '../ids.js';
import type { EventType } from './events.js';

/** An event as its row holds it. */
interface StoredEvent {
  readonly id: EventId;
  readonly seq: number;
  readonly type: EventType;
  readonly entity_id: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly at: Date;
}

/** An event as users see it: the same in a page, in a stream and in a webhook (decision 100, "Feed and stream"). */
export function presentEvent({ id, seq, type, entity_id: entityId, data, at }: StoredEvent) {
  return { id, seq, type, entityId, data, createdAt: at.toISOString() };
}
