import { idsOfEventSql, isBareSql } from '../payments/kept-event.js';
import { closedAddressSql } from './closing.js';

/** How a person's words go from one table when their account is closed (decision 183, "What closing erases"). */
export interface Erasure {
  readonly table: string;
  /**
   * SQL on the alias `t` that finds the person's rows. It may name `:userId` and `:email`, and in a sweep `:customerId`.
   */
  readonly whose: string;
  /** The columns and what they become, in SQL. Without: the rows go. */
  readonly becomes?: Readonly<Record<string, string>>;
  /** One account may have very many such rows: they go in batches before the others, in the same order. */
  readonly isLarge?: true;
  /** It lets somebody in, or out to them: it goes before a restored database that brought it back serves anybody. */
  readonly opens?: true;
}

const own = 't.user_id = :userId';
const ofRental = 't.rental_no in (select no from rentals where user_id = :userId)';
const ofAttempt =
  't.attempt_id in (select a.id from allocation_attempts a join rentals r on r.id = a.rental_id where r.user_id = :userId)';
const ofWebhook = 't.webhook_id in (select id from webhooks where user_id = :userId)';
const ofAction = (table: string, more = ''): string => `t.id in (
  select a.id from ${table} a where a.request ->> 'userId' = :userId
  union select a.id from ${table} a join rentals r on a.request ->> 'rentalId' = r.id where r.user_id = :userId
  union select a.id from ${table} a join invoices i on a.request ->> 'invoiceId' = i.id where i.user_id = :userId
  union select e.entity_id from audit_events e where e.user_id = :userId and e.kind = 'changed_by_operator'${more})`;
const ofParked = `(t.user_id = :userId or t.topup_id in (select id from topups where user_id = :userId))`;
const ofFinding = `:userId = any (users_of_ids(t.subject_ids))`;
/** What operators do about a payment or a finding names nobody: the payment does, or the finding. */
const ofDecision = `
  union select a.id from operator_actions a join parked_payments t on a.request ->> 'paymentId' = t.payment_id where ${ofParked}
  union select a.id from operator_actions a join reconcile_findings t on a.request ->> 'findingId' = t.id::text
   where t.acknowledged_why is not null and ${ofFinding}`;
const gone = "'erased'";

/**
 * Whether the person's address was theirs at an instant: whom a restored database brought back has lost it, and somebody may
 * have signed up by it since.
 */
const wasTheirs = (at: string): string =>
  `not exists (select 1 from users o where o.email = :email::text and o.id <> :userId and o.created_at <= ${at})`;
const isTheirs = 'exists (select 1 from users o where o.id = :userId and o.email = :email::text)';

/** A text of then that names the person's address, or their customer at the processor, as a whole word. */
const names = (column: string, at: string): string =>
  `(has_word(${column}, :email::text) and ${wasTheirs(at)} or has_word(${column}, :customerId::text))`;
const unnamed = (column: string): string =>
  `without_word(without_word(${column}, :email::text, :userId), :customerId::text, :userId)`;
/** The payments of an account, by the processor's ids. */
const payments = `(select payment_id from topups where user_id = :userId and payment_id is not null
  union select payment_id from invoices where user_id = :userId and payment_id is not null
  union select payment_id from refunds_and_disputes where user_id = :userId)`;

/** What no index finds in a large table: it is searched once by the order of its key, and later what came after. */
export interface Sweep extends Erasure {
  /** The columns of the key in their order, each with its type. */
  readonly key: Readonly<Record<string, string>>;
  /** When a row was written, in SQL. */
  readonly at: string;
}

const numbered = { id: 'bigint' };

/**
 * An event of a card, or of a payment that we do not follow, tells its holder and not its user: all are taken down to their
 * ids, whoever's they are. New ones come so.
 *
 * `:email` and `:customerId` are null once they are erased: numbers find what comes late.
 */
export const sweeps: readonly Sweep[] = [
  {
    table: 'processor_events',
    ...{ key: { received_at: 'timestamptz', id: 'text' }, at: 't.received_at' },
    whose: `(${names('t.object::text', 't.received_at')} or strpos(t.object::text, :userId) > 0
      or t.workflow_id in (select id from refunds_and_disputes where user_id = :userId)
      or t.object ->> 'payment_intent' in ${payments} or t.object ->> 'id' in ${payments}
      or ${isBareSql('t.kind', 't.workflow_id')})`,
    becomes: { object: idsOfEventSql('t.object') },
  },
  {
    table: 'odd_events',
    ...{ key: numbered, at: 't.first_received_at' },
    whose: `${names('t.body', 't.first_received_at')} or strpos(t.body, :userId) > 0`,
  },
  {
    table: 'reconcile_documents',
    ...{ key: { run_id: 'bigint', kind: 'text', id: 'text' } },
    at: '(select r.started_at from reconcile_runs r where r.id = t.run_id)',
    whose: `t.customer_id = :customerId or t.payment_id in ${payments}`,
    becomes: { customer_id: 'null' },
  },
  {
    table: 'operator_notices',
    ...{ key: numbered, at: 't.noted_at' },
    whose: names(`concat_ws(' ', t.subject, t.body, t.html)`, 't.noted_at'),
    becomes: { subject: unnamed('t.subject'), body: unnamed('t.body'), html: unnamed('t.html') },
  },
  {
    table: 'mail_outbox',
    ...{ key: numbered, at: 't.created_at' },
    // Who was shut out left nothing unsent: what is, has the code of somebody who signs up by the address.
    whose: `t.recipient = :email and ${wasTheirs('t.created_at')} and (t.sent_at is not null or ${isTheirs})`,
  },
  { table: 'user_notices', key: numbered, at: 't.noted_at', whose: own },
  {
    table: 'quotes',
    ...{ key: { expires_at: 'timestamptz', id: 'text' }, at: 't.created_at' },
    whose: own,
  },
  {
    table: 'rental_requests',
    ...{ key: { requested_at: 'timestamptz', id: 'text' }, at: 't.requested_at' },
    whose: own,
  },
  {
    table: 'mail_outbox',
    ...{ key: numbered, at: 't.created_at' },
    whose: names(`concat_ws(' ', t.subject, t.body, t.html, t.last_error)`, 't.created_at'),
    becomes: {
      subject: unnamed('t.subject'),
      body: unnamed('t.body'),
      html: unnamed('t.html'),
      last_error: unnamed('t.last_error'),
    },
  },
];

/** What an index finds, or what is in a small table. In this order: what finds rows by others comes before them. */
export const erasures: readonly Erasure[] = [
  {
    table: 'reconcile_findings',
    whose: `t.acknowledged_why is not null and ${ofFinding}`,
    becomes: { acknowledged_why: gone },
  },
  {
    table: 'stuck_items',
    whose: 'has_word(t.last_error, :email::text)',
    becomes: { last_error: 'without_word(t.last_error, :email::text, :userId)' },
  },
  {
    table: 'operator_orders',
    // Whoever is to approve an order reads what it asks for.
    whose: `t.closed_at is not null and ${ofAction('operator_orders')}`,
    becomes: {
      reason: gone,
      request: `t.request - 'description'`,
      rejected_why: `case when t.rejected_why is not null then ${gone} end`,
    },
  },
  {
    table: 'operator_actions',
    whose: ofAction('operator_actions', ofDecision),
    becomes: { reason: gone, request: `t.request - 'description'`, result: `t.result - 'was'` },
  },
  {
    table: 'parked_payments',
    whose: `t.resolution is not null and ${ofParked}`,
    becomes: { resolution: gone },
  },
  { table: 'answered_machines', whose: ofRental, isLarge: true },
  {
    table: 'pods',
    whose: `(t.provider_code, t.pod_id) in (select provider_code, pod_id from rentals where user_id = :userId)`,
    becomes: { host: 'null', username: 'null', ports: 'null' },
    isLarge: true,
  },
  {
    table: 'software_secrets',
    // Those of a request that became no rental are sealed, and go by themselves.
    whose: `t.id in (select software ->> 'secretsId' from rentals where user_id = :userId)`,
    isLarge: true,
  },
  { table: 'telemetry_hours', whose: ofRental, isLarge: true },
  { table: 'machine_reports', whose: ofAttempt, isLarge: true },
  { table: 'machine_uses', whose: ofAttempt, isLarge: true },
  { table: 'machine_tokens', whose: ofAttempt, isLarge: true },
  {
    table: 'stop_requests',
    whose: `${ofRental} and t.reason is not null`,
    becomes: { reason: gone },
    isLarge: true,
  },
  {
    table: 'rental_changes',
    whose: ofRental,
    becomes: {
      asked: `t.asked - array['name', 'labels', 'notes']`,
      refused: `case when t.refused is not null then jsonb_build_object('code', t.refused -> 'code', 'message', ${gone}) end`,
    },
    isLarge: true,
  },
  { table: 'rental_labels', whose: own, isLarge: true },
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
    isLarge: true,
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
  { table: 'sessions', whose: own, opens: true },
  { table: 'proof_codes', whose: own, opens: true },
  { table: 'login_codes', whose: `t.email = :email and ${isTheirs}`, opens: true },
  { table: 'idempotency_keys', whose: own, isLarge: true },
  { table: 'ssh_keys', whose: own },
  { table: 'passkeys', whose: own, opens: true },
  { table: 'identities', whose: own, opens: true },
  { table: 'notice_settings', whose: own },
  { table: 'budget_alerts', whose: own },
  { table: 'budgets', whose: own },
  { table: 'billing_details', whose: own },
  { table: 'saved_cards', whose: own },
  { table: 'failed_sign_ins', whose: own },
  { table: 'webhook_deliveries', whose: ofWebhook, isLarge: true },
  { table: 'webhook_retries', whose: ofWebhook, isLarge: true },
  { table: 'webhooks', whose: own },
  { table: 'events', whose: own, isLarge: true },
  { table: 'event_outbox', whose: own },
  {
    table: 'account_ties',
    // One bound for new accounts of an address outlives the account, as long as it would count.
    whose: `${own} and t.kind = 'address' and t.tied_at < clock_ms() - interval '1 day'`,
  },
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
    opens: true,
  },
  {
    table: 'audit_events',
    whose: own,
    becomes: { details: 'null', client_address: 'null' },
    isLarge: true,
  },
  {
    table: 'users',
    whose: 't.id = :userId',
    becomes: {
      email: closedAddressSql,
      processor_customer_id: 'null',
      blocked_reason: `case when t.blocked_at is not null then ${gone} end`,
    },
  },
  { table: 'account_closings', whose: own, becomes: { former_email: 'null' } },
];

/** What changes apart from the list: a card becomes a number that nobody can read, an operator’s note its hash. */
export const changedApart = [
  'account_ties.value',
  'charge_marks.fingerprint',
  'ledger_entries.note',
] as const;

/** Tables whose rows go with those that they belong to, by the foreign key. */
export const wentWith = ['open_streams', 'webhook_secrets'] as const;
