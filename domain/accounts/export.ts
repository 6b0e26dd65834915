import { SECOND } from '../durations.js';
import { Refusal } from '../refusal.js';
import { accountLimits } from './limits.js';

/** The refusal of an export beside another one of the same account. */
export function exportRunning(): Refusal {
  const retryAfterSeconds = accountLimits.exportLeaseMs / SECOND;
  return new Refusal(
    'export_running',
    `Your account is being exported already. Wait until that download ends, or cancel it and try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds },
  );
}

/**
 * Where an export tells what the database holds of a person: by file, the columns of each table that can hold words. A star
 * is all of a table's. A test holds it against the schema, and against a filled archive.
 */
export const toldIn: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'account.json': { users: 'id email' },
  'closing.json': { account_closings: 'state waits_for', closing_refunds: 'payment_id' },
  'sessions.jsonl': { sessions: 'id client_address' },
  'sign-in-accounts.jsonl': { identities: 'issuer subject' },
  'passkeys.jsonl': { passkeys: 'id name' },
  'failed-sign-ins.jsonl': { failed_sign_ins: '*' },
  'audit.jsonl': { audit_events: 'id kind entity_id details client_address api_key_id' },
  'ssh-keys.jsonl': { ssh_keys: 'id name public_key fingerprint' },
  'api-keys.jsonl': { api_keys: 'id name hint scopes ends allowed_cidrs last_used_address' },
  'notices.json': { notice_settings: 'kind' },
  'emails.jsonl': { mail_outbox: 'subject body' },
  'balance.json': { meter_readings: '*' },
  'standing.json': { users: 'blocked_reason', refunds_and_disputes: 'kind' },
  'ledger.csv': { ledger_entries: 'type processor_charge_id', ledger_seals: '*' },
  'topups.jsonl': {
    topups: 'id status session_id checkout_url charge_id receipt_url error source decline_code',
  },
  'receipts.jsonl': { topups: 'billed_to card_brand card_last4 sold_by' },
  'invoices.jsonl': {
    invoices: 'id status reason currency processor_invoice_id hosted_invoice_url invoice_pdf_url receipt_url',
    invoice_line_items: 'id description',
  },
  'billing-details.json': { billing_details: 'name address tax_id' },
  'card.json': { saved_cards: 'pm_id brand last4' },
  'auto-topup.json': { auto_topups: 'disabled_why' },
  'budget.json': { budgets: '*' },
  'rentals.jsonl': {
    rentals:
      'id status name family model region interconnect template_id provider_code host username host_key_fingerprint stop_reason error notes',
    rental_labels: 'key value',
    idle_guards: 'ignores',
  },
  'machine-use.jsonl': { telemetry_hours: 'source' },
  'events.jsonl': { events: 'id type entity_id data' },
  'webhooks.jsonl': { webhooks: 'id url types description state switched_off_why' },
  'webhook-deliveries.jsonl': { webhook_deliveries: 'id webhook_id event_id type outcome fault' },
};

/** What an export leaves out, each with the reason. */
export const leftOut: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a secret, or what one is checked by': {
    api_keys: 'token_hash',
    login_codes: '*',
    machine_tokens: '*',
    mail_outbox: 'unsubscribe_url',
    open_streams: '*',
    passkeys: 'credential_id public_key transports',
    proof_codes: '*',
    sessions: 'token_hash',
    software_secrets: '*',
    webhook_secrets: '*',
  },
  'told in other words, or elsewhere in the archive': {
    account_closings: 'requested_by',
    answered_machines: '*',
    budget_alerts: '*',
    closing_refunds: 'refund_id refused_code',
    event_feeds: '*',
    event_outbox: '*',
    invoice_line_items: 'invoice_id',
    lost_machines: '*',
    machine_uses: '*',
    mail_outbox: 'recipient html',
    pods: '*',
    refunds_and_disputes: 'id payment_id invoice_id status',
    rental_changes: '*',
    rental_warnings: '*',
    rentals: 'region_code ssh_key_ids software ready_by',
    sessions: 'user_agent',
    ssh_keys: 'api_key_id',
    stop_requests: 'requested_by',
    telemetry_hours: 'minutes',
    user_notices: '*',
    webhook_retries: '*',
    webhooks: 'api_key_id',
  },
  'a number by which the service or a provider finds its own': {
    invoices: 'cause payment_id',
    ledger_causes: '*',
    mail_outbox: 'cause last_error',
    rentals: 'listing_id tag pod_id api_key_id',
    topups: 'payment_id pm_id',
    users: 'processor_customer_id',
    wallets: 'metering_blocked_reason',
  },
  'was asked for, and is gone within 30 days; what came of it is told': {
    account_closings: 'swept former_email',
    card_setups: '*',
    idempotency_keys: '*',
    intents: '*',
    quotes: '*',
    rental_requests: '*',
    topup_requests: '*',
  },
  'recognizes a card or a mailbox again': {
    account_ties: '*',
    charge_marks: '*',
    closed_marks: '*',
    saved_cards: 'fingerprint removed_why',
  },
  'the proof of the ledger, which is downloaded by month': {
    ledger_erased_notes: '*',
    ledger_hashes: '*',
    ledger_note_salts: '*',
    wallet_proof_ids: '*',
  },
  'about machines and their upstreams': {
    allocation_attempts: '*',
    bad_machines: '*',
    machine_reports: '*',
  },
  'words of our staff, and comparisons of our books': {
    invoices: 'void_reason',
    ledger_entries: 'note',
    odd_events: '*',
    operator_actions: '*',
    operator_notices: '*',
    operator_orders: '*',
    parked_payments: '*',
    processor_events: '*',
    reconcile_documents: '*',
    reconcile_findings: '*',
    stop_requests: 'reason',
    stuck_items: '*',
  },
};
