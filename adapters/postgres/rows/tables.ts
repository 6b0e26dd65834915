import type { Knex } from 'knex';
import type * as billing from './billing-rows.js';
import type * as orders from './order-rows.js';
import type * as events from './event-rows.js';
import type * as loops from './loop-rows.js';
import type * as reconcile from '../reconcile/rows.js';
import type * as rows from './service-rows.js';
import type * as signIn from './sign-in-rows.js';

export type * from './billing-rows.js';
export type * from './order-rows.js';
export type * from './event-rows.js';
export type * from './loop-rows.js';
export type * from '../reconcile/rows.js';
export type * from './service-rows.js';
export type * from './sign-in-rows.js';

/** The values of an insert or update: each column, or an expression that the database evaluates. */
type Written<Row> = { [Column in keyof Row]?: Row[Column] | Knex.Raw };
type Table<Row> = Knex.CompositeTableType<Row, Written<Row>, Written<Row>>;

declare module 'knex/types/tables.js' {
  interface Tables {
    users: Table<rows.UserRow>;
    audit_events: Table<rows.AuditEventRow>;
    sessions: Table<rows.SessionRow>;
    login_codes: Table<signIn.LoginCodeRow>;
    oauth_states: Table<signIn.OAuthStateRow>;
    identities: Table<signIn.IdentityRow>;
    failed_sign_ins: Table<signIn.FailedSignInsRow>;
    odd_events: Table<billing.OddEventRow>;
    installation_keys: Table<signIn.InstallationKeyRow>;
    ssh_keys: Table<rows.SshKeyRow>;
    wallets: Table<rows.WalletRow>;
    ledger_entries: Table<rows.LedgerEntryRow>;
    ledger_causes: Table<rows.LedgerCauseRow>;
    providers: Table<rows.ProviderRow>;
    provider_quotas: Table<rows.ProviderQuotasRow>;
    listings: Table<rows.ListingRow>;
    provider_families: Table<rows.ProviderFamilyRow>;
    rentals: Table<rows.RentalRow>;
    rentals_now: Table<rows.RentalRow>;
    meters: Table<rows.MeterRow>;
    stop_requests: Table<rows.StopRequestRow>;
    lost_machines: Table<rows.LostMachineRow>;
    allocation_attempts: Table<rows.AllocationAttemptRow>;
    pods: Table<rows.PodRow>;
    pod_leaks: Table<rows.PodLeakRow>;
    free_machines: Table<rows.FreeMachineRow>;
    operator_notices: Table<billing.OperatorNoticeRow>;
    provider_oddities: Table<rows.ProviderOddityRow>;
    intents: Table<rows.IntentRow>;
    stuck_items: Table<loops.StuckItemRow>;
    look_signals: Table<loops.LookSignalRow>;
    meter_shards: Table<rows.MeterShardRow>;
    topups: Table<billing.TopupRow>;
    saved_cards: Table<billing.SavedCardRow>;
    charge_marks: Table<billing.ChargeMarkRow>;
    card_setups: Table<billing.CardSetupRow>;
    parked_payments: Table<billing.ParkedPaymentRow>;
    refunds_and_disputes: Table<billing.RefundOrDisputeRow>;
    event_cursor: Table<billing.EventCursorRow>;
    processor_events: Table<billing.ProcessorEventRow>;
    invoices: Table<billing.InvoiceRow>;
    auto_topups: Table<billing.AutoTopupRow>;
    operator_actions: Table<billing.OperatorActionRow>;
    operator_orders: Table<orders.OperatorOrderRow>;
    operator_order_items: Table<orders.OperatorOrderItemRow>;
    rental_requests: Table<orders.RentalRequestRow>;
    topup_requests: Table<orders.TopupRequestRow>;
    answered_machines: Table<orders.AnsweredMachineRow>;
    invoice_line_items: Table<billing.InvoiceLineItemRow>;
    idempotency_keys: Table<billing.IdempotencyKeyRow>;
    mail_outbox: Table<billing.MailOutboxRow>;
    brakes: Table<billing.BrakeRow>;
    watermark: Table<billing.WatermarkRow>;
    event_outbox: Table<events.EventOutboxRow>;
    event_feeds: Table<events.EventFeedRow>;
    events: Table<events.EventRow>;
    reconcile_runs: Table<reconcile.ReconcileRunRow>;
    reconcile_sources: Table<reconcile.ReconcileSourceRow>;
    reconcile_findings: Table<reconcile.ReconcileFindingRow>;
    reconcile_documents: Table<reconcile.ReconcileDocumentRow>;
    unknown_pods: Table<billing.UnknownPodRow>;
  }
}
