import { closedDomain } from './closing.js';

/** How a person's words go from one table when their account is closed (decision 180, "What closing erases"). */
export interface Erasure {
  readonly table: string;
  /**
   * SQL on the alias `t` that finds the person's rows. It may name `:userId`, `:email`, `:mailbox` and `:customerId`,
   * which is null where the processor knows no customer.
   */
  readonly whose: string;
  /** The columns and what they become, in SQL. Without: the rows go. */
  readonly becomes?: Readonly<Record<string, string>>;
}

const own = 't.user_id = :userId';
const ofRental = 't.rental_no in (select no from rentals where user_id = :userId)';
const ofAttempt =
  't.attempt_id in (select a.id from allocation_attempts a join rentals r on r.id = a.rental_id where r.user_id = :userId)';
const ofAction = `(t.request ->> 'userId' = :userId
  or t.request ->> 'rentalId' in (select id from rentals where user_id = :userId)
  or t.request ->> 'invoiceId' in (select id from invoices where user_id = :userId)
  or t.id in (select entity_id from audit_events where user_id = :userId and kind = 'changed_by_operator'))`;
const gone = "'erased'";
/** A text that names the person's address, or their customer at the processor. */
const names = (column: string): string =>
  `(strpos(${column}, :email) > 0 or strpos(${column}, coalesce(:customerId::text, :email)) > 0)`;
const unnamed = (column: string): string => `replace(${column}, :email, :userId)`;
/** The ids that the workflows of payments go by, and nothing else. */
const idsOfEvent = `jsonb_strip_nulls(jsonb_build_object(
  'id', case when t.object ->> 'object' <> 'customer' then t.object -> 'id' end, 'object', t.object -> 'object', 'metadata', t.object -> 'metadata',
  'charge', case when jsonb_typeof(t.object -> 'charge') = 'string' then t.object -> 'charge' end,
  'payment_intent', case when jsonb_typeof(t.object -> 'payment_intent') = 'string' then t.object -> 'payment_intent' end))`;

/** In this order: what finds rows by others comes before them. */
export const erasures: readonly Erasure[] = [
  {
    table: 'processor_events',
    whose: `(${names('t.object::text')} or strpos(t.object::text, :userId) > 0
      or t.workflow_id in (select id from refunds_and_disputes where user_id = :userId))
      and t.object <> ${idsOfEvent}`,
    becomes: { object: idsOfEvent },
  },
  { table: 'odd_events', whose: `(${names('t.body')} or strpos(t.body, :userId) > 0)` },
  {
    table: 'reconcile_documents',
    whose: 't.customer_id = :customerId',
    becomes: { customer_id: 'null' },
  },
  {
    table: 'reconcile_findings',
    whose: `t.acknowledged_why is not null and t.subject_ids ->> 'userId' = :userId`,
    becomes: { acknowledged_why: gone },
  },
  { table: 'stuck_items', whose: names('t.last_error'), becomes: { last_error: unnamed('t.last_error') } },
  {
    table: 'operator_notices',
    whose: names(`concat_ws(' ', t.subject, t.body, t.html)`),
    becomes: { subject: unnamed('t.subject'), body: unnamed('t.body'), html: unnamed('t.html') },
  },
  { table: 'mail_outbox', whose: 't.recipient = :email' },
  {
    table: 'mail_outbox',
    whose: names(`concat_ws(' ', t.subject, t.body, t.html, t.last_error)`),
    becomes: {
      subject: unnamed('t.subject'),
      body: unnamed('t.body'),
      html: unnamed('t.html'),
      last_error: unnamed('t.last_error'),
    },
  },
  {
    table: 'operator_orders',
    whose: ofAction,
    becomes: {
      reason: gone,
      request: `t.request - 'description'`,
      rejected_why: `case when t.rejected_why is not null then ${gone} end`,
    },
  },
  {
    table: 'operator_actions',
    whose: ofAction,
    becomes: { reason: gone, request: `t.request - 'description'`, result: `t.result - 'was'` },
  },
  {
    table: 'parked_payments',
    whose: `${own} and t.resolution is not null`,
    becomes: { resolution: gone },
  },
  { table: 'answered_machines', whose: ofRental },
  {
    table: 'pods',
    whose: `(t.provider_code, t.pod_id) in (select provider_code, pod_id from rentals where user_id = :userId)`,
    becomes: { host: 'null', username: 'null', ports: 'null' },
  },
  {
    table: 'software_secrets',
    whose: `t.id in (
      select software ->> 'secretsId' from rentals where user_id = :userId
      union select software ->> 'secretsId' from rental_requests where user_id = :userId)`,
  },
  { table: 'telemetry_hours', whose: ofRental },
  { table: 'machine_reports', whose: ofAttempt },
  { table: 'machine_tokens', whose: ofAttempt },
  { table: 'stop_requests', whose: `${ofRental} and t.reason is not null`, becomes: { reason: gone } },
  {
    table: 'rental_changes',
    whose: own,
    becomes: {
      asked: `t.asked - array['name', 'labels', 'notes']`,
      refused: `case when t.refused is not null then jsonb_build_object('code', t.refused -> 'code', 'message', ${gone}) end`,
    },
  },
  { table: 'rental_labels', whose: own },
  { table: 'quotes', whose: own },
  { table: 'rental_requests', whose: own },
  { table: 'topup_requests', whose: own },
  {
    table: 'rentals',
    whose: own,
    becomes: {
      name: 'null',
      notes: 'null',
      software: 'null',
      ssh_key_ids: `'{}'`,
      host: 'null',
      username: 'null',
      host_key_fingerprint: 'null',
      error: `case when t.status = 'failed' then ${gone} end`,
    },
  },
  {
    table: 'invoices',
    whose: own,
    becomes: {
      hosted_invoice_url: 'null',
      invoice_pdf_url: 'null',
      receipt_url: 'null',
      void_reason: `case when t.void_reason is not null then ${gone} end`,
    },
  },
  {
    table: 'topups',
    whose: own,
    becomes: {
      checkout_url: 'null',
      receipt_url: 'null',
      error: `case when t.error is not null then ${gone} end`,
    },
  },
  { table: 'webhooks', whose: own },
  { table: 'sessions', whose: own },
  { table: 'proof_codes', whose: own },
  { table: 'login_codes', whose: '(t.email = :email or t.mailbox = :mailbox)' },
  { table: 'idempotency_keys', whose: own },
  { table: 'ssh_keys', whose: own },
  { table: 'passkeys', whose: own },
  { table: 'identities', whose: own },
  { table: 'notice_settings', whose: own },
  { table: 'user_notices', whose: own },
  { table: 'budget_alerts', whose: own },
  { table: 'budgets', whose: own },
  { table: 'billing_details', whose: own },
  { table: 'saved_cards', whose: own },
  { table: 'card_setups', whose: own },
  { table: 'failed_sign_ins', whose: own },
  { table: 'events', whose: own },
  { table: 'event_outbox', whose: own },
  { table: 'account_ties', whose: `${own} and t.kind = 'address'` },
  {
    table: 'api_keys',
    whose: own,
    becomes: {
      name: gone,
      hint: "'0000'",
      allowed_cidrs: 'null',
      last_used_address: 'null',
      token_hash: `sha256(convert_to(t.id, 'UTF8'))`,
    },
  },
  {
    table: 'audit_events',
    whose: `${own} and (t.details is not null or t.client_address is not null)`,
    becomes: { details: 'null', client_address: 'null' },
  },
  {
    table: 'users',
    whose: 't.id = :userId',
    becomes: {
      email: `lower(t.id) || '@${closedDomain}'`,
      processor_customer_id: 'null',
      blocked_reason: `case when t.blocked_at is not null then ${gone} end`,
    },
  },
];

/** What changes apart from the list: a card becomes a number that nobody can read, an operator’s note its hash. */
export const changedApart = [
  'account_ties.value',
  'charge_marks.fingerprint',
  'ledger_entries.note',
] as const;

/** Tables whose rows go with those that they belong to, by the foreign key. */
export const wentWith = ['open_streams', 'webhook_deliveries', 'webhook_retries', 'webhook_secrets'] as const;

/** What stays of a table although texts may stand in it, each with the reason; a star is all of its columns. */
const ids = 'an id of ours, of the processor’s or of an upstream’s';
const word = 'one of the service’s own words';
const hash = 'a hash, or chance';
const law = 'the law of bookkeeping: docs/security.md names it';
const upstreams = 'about upstreams, not about users';
const service = 'about the service, not about users';
const operators = 'about operators, who are not this person';
const passes = 'goes by itself within minutes or days';

export const staying: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  [ids]: {
    account_closings: 'user_id',
    account_ties: 'user_id',
    allocation_attempts: 'rental_id provider_code listing_id offer_id tag pod_id',
    api_keys: 'id user_id',
    audit_events: 'id user_id entity_id api_key_id',
    auto_topups: 'user_id',
    bad_machines: 'rental_id provider_code machine',
    charge_marks: 'id charge_id user_id',
    closed_mailboxes: 'user_id',
    closing_refunds: 'user_id payment_id refund_id',
    event_feeds: 'user_id',
    invoice_line_items: 'id invoice_id',
    invoices: 'id user_id cause processor_invoice_id payment_id',
    ledger_causes: 'cause',
    ledger_entries: 'processor_charge_id',
    look_signals: 'workflow_id',
    operator_order_items: 'order_id',
    operator_orders: 'id',
    operator_actions: 'id',
    parked_payments: 'payment_id topup_id user_id credited_by',
    pods: 'provider_code pod_id tag',
    processor_events: 'id workflow_id',
    reconcile_documents: 'id payment_id charge_id our_id',
    reconcile_findings: 'subject subject_ids evidence',
    refunds_and_disputes: 'id payment_id user_id invoice_id',
    rental_changes: 'id user_id api_key_id',
    rentals: 'id user_id template_id listing_id provider_code tag pod_id api_key_id',
    stuck_items: 'item',
    topups: 'id user_id session_id payment_id charge_id pm_id',
    unknown_pods: 'provider_code pod_id tag',
    users: 'id',
    wallets: 'user_id',
  },
  [word]: {
    account_closings: 'requested_by state waits_for',
    account_ties: 'kind',
    allocation_attempts: 'state failed_by',
    api_keys: 'scopes ends',
    audit_events: 'kind',
    auto_topups: 'disabled_why',
    bad_machines: 'faults outcome',
    charge_marks: 'kind',
    closing_refunds: 'refused_code',
    idle_guards: 'ignores',
    intents: 'kind',
    invoices: 'status reason currency',
    ledger_entries: 'type',
    look_signals: 'workflow_type',
    operator_actions: 'kind',
    operator_notices: 'cause',
    mail_outbox: 'cause unsubscribe_url recipient',
    operator_orders: 'kind status code message result',
    parked_payments: 'currency reason',
    pods: 'status upstream_status',
    processor_events: 'kind api_version note workflow_type',
    reconcile_documents: 'kind status currency',
    reconcile_findings: 'kind source state',
    refunds_and_disputes: 'kind status',
    rentals: 'status family model region region_code interconnect stop_reason ready_by',
    rental_warnings: 'warning',
    stop_requests: 'requested_by',
    stuck_items: 'duty',
    topups: 'status source decline_code',
  },
  [hash]: {
    closed_mailboxes: 'hmac',
    installation_keys: '*',
    ledger_erased_notes: '*',
    ledger_hashes: '*',
    ledger_note_salts: '*',
    ledger_roots: '*',
    wallet_proof_ids: '*',
  },
  [law]: {
    invoice_line_items: 'description',
    topups: 'billed_to card_brand card_last4',
  },
  [upstreams]: {
    allocation_attempts: 'error',
    catalog_hours: '*',
    listings: '*',
    offer_hours: '*',
    pods: 'hardware',
    provider_families: '*',
    provider_oddities: '*',
    provider_quotas: '*',
    providers: '*',
    reliability: '*',
    reliability_hours: '*',
  },
  [service]: {
    knex_migrations: '*',
    reconcile_runs: '*',
    reconcile_sources: '*',
    statement_months: '*',
    stream_hosts: '*',
    topups: 'sold_by',
    wallets: 'metering_blocked_reason',
    watermark: '*',
    witnesses: '*',
  },
  [operators]: {
    brakes: '*',
    operator_actions: 'operator login',
    operator_orders: 'said_by requested_by approved_by rejected_by',
    reconcile_findings: 'acknowledged_by',
    unknown_pods: 'released_by released_why',
  },
  [passes]: { oauth_states: '*', passkey_challenges: '*', rate_limits: '*' },
};
