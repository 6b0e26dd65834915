import type { DeliveryId, EventId, UserId, WebhookId } from '../../../domain/ids.js';
import type { TryOutcome, WebhookState, WhyOff } from '../../../domain/webhooks/webhook.js';

/** A user's endpoint (migrations/ says what each column means). */
export interface WebhookRow {
  id: WebhookId;
  user_id: UserId;
  url: string;
  types: string[];
  description: string;
  state: WebhookState | 'removed';
  switched_off_why: WhyOff | null;
  created_at: Date;
  enabled_at: Date | null;
  switched_off_at: Date | null;
  removed_at: Date | null;
  round: number;
  cursor_seq: number;
  tries: number;
  tried_since: Date | null;
  failures: number;
  failing_since: Date | null;
  last_success_at: Date | null;
  line_at: Date | null;
  retry_at: Date | null;
  due_at: Date | null;
  told_at: Date | null;
}

export interface WebhookSecretRow {
  webhook_id: WebhookId;
  no: number;
  sealed: Buffer;
  made_at: Date;
  expires_at: Date | null;
}

/** An event that holds up no later ones any more. */
export interface WebhookRetryRow {
  webhook_id: WebhookId;
  seq: number;
  tries: number;
  first_tried_at: Date;
  next_try_at: Date;
}

/** One try; event and seq are null for a challenge. */
export interface WebhookDeliveryRow {
  no: number;
  id: DeliveryId;
  webhook_id: WebhookId;
  event_id: EventId | null;
  seq: number | null;
  type: string;
  attempt: number;
  outcome: TryOutcome;
  http_status: number | null;
  fault: string | null;
  duration_ms: number;
  at: Date;
}

export interface WebhookFeedRow {
  singleton: boolean;
  last_no: number;
}
