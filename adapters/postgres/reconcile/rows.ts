import type { FindingKind, FindingState, ReconcileScope } from '../../../domain/operations/reconcile.js';

/** The rows of reconcile; migrations/ says what each column means. */
export interface ReconcileRunRow {
  id: number;
  scope: ReconcileScope;
  started_at: Date;
  finished_at: Date | null;
}

export interface ReconcileSourceRow {
  source: string;
  compared_until: Date | null;
  full_at: Date | null;
  first_tried_at: Date;
  failing_since: Date | null;
  failing_why: string | null;
}

export interface ReconcileFindingRow {
  id: number;
  kind: FindingKind;
  source: string;
  subject: string;
  subject_ids: Record<string, string | number | null>;
  evidence: Record<string, unknown>;
  state: FindingState;
  first_run_id: number;
  last_run_id: number;
  first_seen_at: Date;
  last_seen_at: Date;
  told_at: Date | null;
  acknowledged_at: Date | null;
  acknowledged_by: string | null;
  acknowledged_why: string | null;
  resolved_at: Date | null;
}

export interface ReconcileDocumentRow {
  run_id: number;
  kind: 'charge' | 'refund' | 'dispute' | 'invoice';
  id: string;
  status: string;
  payment_id: string | null;
  charge_id: string | null;
  our_id: string | null;
  customer_id: string | null;
  amount_cents: number;
  refunded_cents: number;
  currency: string | null;
  taken: boolean;
  returned: boolean;
  at: Date | null;
}
