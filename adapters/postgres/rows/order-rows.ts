import type {
  ApiKeyId,
  ChangeId,
  ListingId,
  OperationId,
  QuoteId,
  RentalId,
  SshKeyId,
  TopupId,
  UserId,
} from '../../../domain/ids.js';
import type { RentalRequest } from '../../../domain/opening.js';
import type { OperationResult, OrderedAction, OrderStatus } from '../../../domain/operations/operation.js';
import type { RefusalCode, RefusalDetails } from '../../../domain/refusal.js';
import type { AskedChange } from '../../../domain/rentals/changes.js';
import type { Labels } from '../../../domain/rentals/labels.js';

/** The rows of requests by users and operators, written before a workflow acts on them. */
/** An operator's request that moves money or needs the workers. */
export interface OperatorOrderRow {
  id: OperationId;
  kind: OrderedAction['kind'];
  request: OrderedAction;
  amount_cents: number | null;
  reason: string;
  said_by: string | null;
  requested_by: string;
  requested_at: Date;
  status: OrderStatus;
  approved_by: string | null;
  approved_at: Date | null;
  rejected_by: string | null;
  rejected_why: string | null;
  closed_at: Date | null;
  code: string | null;
  message: string | null;
  result: OperationResult | null;
}

/** A rental that an order of many refunds, with the amount. Amounts in cents. */
export interface OperatorOrderItemRow {
  order_id: OperationId;
  rental_no: number;
  /** The most that it gets. */
  amount_cents: number;
  /** null until it is done. */
  refunded_cents: number | null;
  done_at: Date | null;
}

/** A charge that a user asked for, committed before its workflow starts. */
export interface TopupRequestRow {
  id: TopupId;
  user_id: UserId;
  amount_cents: number;
  answer_before: Date;
  requested_at: Date;
  /** The key that asks; null: a session does. */
  api_key_id: ApiKeyId | null;
}

/** A rental that a user asked for, committed before its workflow starts. */
export interface RentalRequestRow {
  id: RentalId;
  user_id: UserId;
  family_id: string;
  gpu_count: number;
  template_id: string;
  region: string | null;
  name: string | null;
  ssh_key_ids: SshKeyId[];
  auto_stop_after_ms: number | null;
  max_spend_cents: number | null;
  max_price_per_hour_cents: number | null;
  labels: Labels | null;
  /** The quote by which it is opened; null for none. */
  quote_id: QuoteId | null;
  answer_before: Date;
  requested_at: Date;
  /** The key that asks; null: a session does. */
  api_key_id: ApiKeyId | null;
  /** Of this rental alone, beside the stored ones; null for none. */
  ssh_public_keys: string[] | null;
}

/** A price that holds for a minute, and the rental that was opened by it. */
export interface QuoteRow {
  id: QuoteId;
  user_id: UserId;
  request: Omit<RentalRequest, 'userId' | 'apiKeyId'>;
  listing_id: ListingId;
  price_per_hour_cents: number;
  created_at: Date;
  expires_at: Date;
  /** null until it is taken. */
  rental_id: RentalId | null;
  /** The key that asked; null: a session did. */
  api_key_id: ApiKeyId | null;
}

/** The address at which a machine answered whose billing has not begun yet. */
export interface AnsweredMachineRow {
  rental_no: number;
  host: string;
  port: number;
  username: string;
  host_key_fingerprint: string | null;
  answered_at: Date;
}

/** A label of a rental. */
export interface RentalLabelRow {
  rental_no: number;
  user_id: UserId;
  /** From 1 to 10, in the order in which they are shown. */
  place: number;
  key: string;
  value: string;
}

/** A change that a user asked for, and what came of it. Amounts in cents. */
export interface RentalChangeRow {
  id: ChangeId;
  rental_no: number;
  user_id: UserId;
  asked: AskedChange;
  answer_before: Date;
  asked_at: Date;
  answered_at: Date | null;
  refused: { code: RefusalCode; message: string; details?: RefusalDetails } | null;
  /** From when on the new limits hold; null when no limit was changed. */
  limits_at: Date | null;
  was_max_spend_cents: number | null;
  was_auto_stop_at: Date | null;
  new_max_spend_cents: number | null;
  new_auto_stop_at: Date | null;
  /** The key that asks; null: a session does. */
  api_key_id: ApiKeyId | null;
}

/** An instant at which a machine ends, of which its user was warned. */
export interface RentalWarningRow {
  rental_no: number;
  warning: 'auto_stop_near' | 'spend_limit_near' | 'upstream_end_near';
  at: Date;
  warned_at: Date;
}
