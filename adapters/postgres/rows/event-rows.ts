import type { EventType } from '../../../domain/events/events.js';
import type { ApiKeyId, EventId, UserId } from '../../../domain/ids.js';

/** An event that is not numbered yet. */
export interface EventOutboxRow {
  no: number;
  id: EventId;
  user_id: UserId;
  type: EventType;
  entity_id: string;
  data: Readonly<Record<string, unknown>>;
  at: Date;
}

/** The head of a user's feed. */
export interface EventFeedRow {
  user_id: UserId;
  last_seq: number;
}

/** An event of a user's feed. */
export interface EventRow {
  /** Ascends over all users in the order of commits. */
  no: number;
  id: EventId;
  user_id: UserId;
  /** The number within the user's feed, from 1 on. */
  seq: number;
  type: EventType;
  entity_id: string;
  data: Readonly<Record<string, unknown>>;
  /** When it happened. */
  at: Date;
  sequenced_at: Date;
}

/** An API process that holds streams. */
export interface StreamHostRow {
  id: string;
  seen_at: Date;
}

/** A stream that is open. */
export interface OpenStreamRow {
  no: number;
  id: string;
  host_id: string;
  user_id: UserId;
  /** Of its session; null for a stream of a key. */
  token_hash: Buffer | null;
  opened_at: Date;
  crowded_out: boolean;
  outdated: boolean;
  api_key_id: ApiKeyId | null;
}
