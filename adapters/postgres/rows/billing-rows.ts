import type { BrakeKind } from '../../../domain/operations/operation.js';
import type { InvoiceId, LineItemId, OperationId, TopupId, UserId } from '../../../domain/ids.js';
import type { EventWorkflow } from '../../../domain/payments/processor-routes.js';
import type { TopupSource, TopupStatus } from '../../../domain/payments/topup.js';

/** The rows of billing and of the service's own records; migrations/ says what each column means. */
export interface TopupRow {
  id: TopupId;
  user_id: UserId;
  wallet_id: number;
  amount_cents: number;
  status: TopupStatus;
  session_id: string | null;
  checkout_url: string | null;
  session_expires_at: Date | null;
  payment_id: string | null;
  charge_id: string | null;
  receipt_url: string | null;
  credited_cents: number | null;
  credited_at: Date | null;
  error: string | null;
  created_at: Date;
  closed_at: Date | null;
  source: TopupSource;
  pm_id: string | null;
  charge_sent_at: Date | null;
  page_asked_at: Date | null;
  decline_code: string | null;
}

export interface SavedCardRow {
  pm_id: string;
  user_id: UserId;
  brand: string;
  last4: string;
  /** null: 0.1 saved it and nobody has asked the processor yet, or the processor tells none. */
  fingerprint: string | null;
  exp_month: number;
  exp_year: number;
  set_up_at: Date;
  saved_at: Date;
  removed_at: Date | null;
  removed_why: 'user' | 'replaced' | 'detached' | null;
  detached_at: Date | null;
  expiry_noticed_at: Date | null;
}

export interface CardSetupRow {
  no: number;
  user_id: UserId;
  setup_id: string | null;
  created_at: Date;
}

export interface ParkedPaymentRow {
  payment_id: string;
  topup_id: string | null;
  user_id: string | null;
  amount_cents: number;
  currency: string;
  reason: string;
  parked_at: Date;
  resolved_at: Date | null;
  resolution: string | null;
  /** The operation that credited it; null when it was given back, or nobody has decided. */
  credited_by: OperationId | null;
}

/** A user and a card that are not charged while their owner is away, and since when (decision 79, "Charge marks"). */
export interface ChargeMarkRow {
  id: string;
  kind: 'dispute' | 'early_fraud_warning';
  charge_id: string;
  user_id: UserId | null;
  fingerprint: string | null;
  marked_at: Date;
  lifted_at: Date | null;
}

export interface RefundOrDisputeRow {
  id: string;
  kind: 'refund' | 'dispute';
  payment_id: string;
  user_id: UserId;
  wallet_id: number;
  amount_cents: number;
  status: string;
  debited_cents: number;
  invoiced_cents: number;
  written_off_cents: number;
  invoice_id: InvoiceId | null;
  taken_at: Date | null;
  given_back_at: Date | null;
  created_at: Date;
  closed_at: Date | null;
}

export interface EventCursorRow {
  singleton: true;
  seen_until: Date;
}

export interface ProcessorEventRow {
  id: string;
  kind: string;
  created_at: Date;
  received_at: Date;
  livemode: boolean;
  api_version: string | null;
  object: Record<string, unknown>;
  workflow_type: EventWorkflow | null;
  workflow_id: string | null;
  handled_at: Date | null;
  note: string | null;
}

export interface InvoiceRow {
  id: InvoiceId;
  user_id: UserId;
  wallet_id: number;
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
  reason: 'topup_failed' | 'overage' | 'manual';
  amount_cents: number;
  currency: 'USD';
  rental_no: number | null;
  cause: string;
  processor_invoice_id: string | null;
  hosted_invoice_url: string | null;
  invoice_pdf_url: string | null;
  receipt_url: string | null;
  created_at: Date;
  finalized_at: Date | null;
  due_at: Date | null;
  paid_at: Date | null;
  voided_at: Date | null;
  void_requested_at: Date | null;
  void_reason: string | null;
  write_off_requested_at: Date | null;
  payment_id: string | null;
  attention_at: Date | null;
  told_at: Date | null;
  closed_at: Date | null;
}

export interface AutoTopupRow {
  wallet_id: number;
  user_id: UserId;
  enabled: boolean;
  threshold_cents: number | null;
  topup_amount_cents: number;
  daily_cap_cents: number | null;
  disabled_why: 'charge_failed' | 'card_removed' | 'card_expired' | 'charges_held' | null;
  next_attempt_at: Date | null;
  updated_at: Date;
}

export interface OperatorActionRow {
  id: OperationId;
  kind: string;
  operator: string;
  reason: string;
  request: unknown;
  result: unknown;
  done_at: Date;
  /** The login whose connection wrote it; null before release 0.2. */
  login: string | null;
}

export interface InvoiceLineItemRow {
  id: LineItemId;
  invoice_id: InvoiceId;
  description: string;
  amount_cents: number;
  rental_no: number | null;
  period_start: Date | null;
  period_end: Date | null;
}

export interface IdempotencyKeyRow {
  user_id: UserId;
  endpoint: string;
  key: string;
  body_hash: Buffer;
  target_id: string;
  response_status: number | null;
  response_body: unknown;
  created_at: Date;
}

export interface MailOutboxRow {
  id: number;
  cause: string;
  recipient: string;
  subject: string;
  body: string | null;
  /** Null for a mail that is text alone. */
  html: string | null;
  unsubscribe_url: string | null;
  wipe_after_sending: boolean;
  tries: number;
  next_try_at: Date;
  last_error: string | null;
  created_at: Date;
  sent_at: Date | null;
}

export interface BrakeRow {
  /** The service itself pulls `restored`, and only reconciling lifts it (decision 67, "Restored databases"). */
  kind: BrakeKind | 'restored';
  pulled_by: string;
  reason: string;
  pulled_at: Date;
}

export interface WatermarkRow {
  singleton: true;
  value: number;
  raised_at: Date;
  /** The incarnation of the database that was compared with Temporal's watermark; `new` before the first raise. */
  confirmed_as: string | null;
}

export interface UnknownPodRow {
  provider_code: string;
  pod_id: string;
  tag: string;
  listed_at: Date;
  released_at: Date | null;
  released_by: string | null;
  released_why: string | null;
}

export interface OddEventRow {
  id: number;
  body_hash: Buffer;
  body: string;
  reason: string;
  deliveries: number;
  first_received_at: Date;
  last_received_at: Date;
}

export interface OperatorNoticeRow {
  id: number;
  cause: string;
  subject: string;
  body: string;
  html: string | null;
  noted_at: Date;
  told_at: Date | null;
}
