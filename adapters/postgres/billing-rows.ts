import type { InvoiceId, LineItemId, TopupId, UserId } from '../../domain/ids.js';
import type { TopupStatus } from '../../domain/topup.js';

/** The rows of billing and of what the service keeps about itself; what each column means stands in migrations/. */
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
}

export interface ProcessorEventRow {
  id: string;
  kind: string;
  created_at: Date;
  received_at: Date;
  livemode: boolean;
  api_version: string | null;
  object: Record<string, unknown>;
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
  wipe_after_sending: boolean;
  tries: number;
  next_try_at: Date;
  last_error: string | null;
  created_at: Date;
  sent_at: Date | null;
}

export interface BrakeRow {
  kind: 'creates' | 'charges' | 'metering';
  pulled_by: string;
  reason: string;
  pulled_at: Date;
}

export interface WatermarkRow {
  singleton: true;
  value: number;
  raised_at: Date;
}
