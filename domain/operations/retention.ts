import { accountLimits } from '../accounts/limits.js';
import { catalogLimits } from '../catalog/limits.js';
import { DAY, HOUR } from '../durations.js';
import { eventLimits } from '../events/limits.js';
import { telemetryLimits } from '../machines/telemetry.js';
import { softwareLimits } from '../rentals/software.js';
import { webhookLimits } from '../webhooks/limits.js';

/** How long the rows of one table are kept, and which of them are then removed. */
export interface Kept {
  readonly table: string;
  /** The table's description for operators in docs/operations/retention.md. */
  readonly what: string;
  /** In milliseconds, from `since` on. */
  readonly keptMs: number;
  /**
   * The column from which the time counts. An index begins with it, so that a pruning reads only the rows that it
   * removes.
   */
  readonly since: string;
  /** The column is no timestamptz, but a number of milliseconds since 1970. */
  readonly inEpochMs?: true;
  /** SQL on the alias `t`: only such rows are removed, because something still needs the others. */
  readonly only?: string;
  /** This column is emptied, and the row stays. */
  readonly cut?: string;
}

/**
 * The rows that are kept for operating, each with its time (decision 70, "Pruned rows"). A new table needs one more
 * line here, or in `forGood`; the worker's role needs the right to delete from it, and
 * docs/operations/retention.md needs a row (a test tells which).
 */
export const retention: readonly Kept[] = [
  { table: 'sessions', what: 'ended sign-ins', keptMs: 0, since: 'expires_at' },
  {
    table: 'api_keys',
    what: 'API keys that expired or were revoked; one that rented something stays',
    keptMs: accountLimits.apiKeyKeptMs,
    since: 'ended_at',
    only: 'not exists (select 1 from rentals r where r.api_key_id = t.id)',
  },
  {
    table: 'api_keys',
    what: 'from where an API key was last used; that it was stays',
    keptMs: 90 * DAY,
    since: 'ended_at',
    only: 't.last_used_address is not null',
    cut: 'last_used_address',
  },
  { table: 'login_codes', what: 'one-time codes', keptMs: 2 * DAY, since: 'created_at' },
  {
    table: 'proof_codes',
    what: 'codes of sessions that showed anew whose they are',
    keptMs: 2 * DAY,
    since: 'created_at',
  },
  {
    table: 'failed_sign_ins',
    what: 'tries of codes that did not sign in',
    keptMs: accountLimits.failedSignInsKeptMs,
    since: 'hour',
  },
  {
    table: 'account_ties',
    what: 'cards by which accounts paid, and addresses from which they were made; what closed accounts are recognized by stays',
    keptMs: 90 * DAY,
    since: 'tied_at',
    only: "t.kind <> 'mailbox' and not starts_with(t.value, 'hmac:')",
  },
  { table: 'oauth_states', what: 'sign-ins begun elsewhere', keptMs: 0, since: 'expires_at' },
  {
    table: 'passkey_challenges',
    what: 'what passkeys were asked to sign',
    keptMs: 0,
    since: 'expires_at',
  },
  { table: 'idempotency_keys', what: 'retried requests', keptMs: DAY, since: 'created_at' },
  { table: 'rate_limits', what: 'counters of requests', keptMs: 0, since: 'expire', inEpochMs: true },
  { table: 'card_setups', what: 'begun savings of a card', keptMs: 2 * DAY, since: 'created_at' },
  {
    table: 'rental_requests',
    what: 'what users asked to rent; the rental itself stays',
    keptMs: 30 * DAY,
    since: 'requested_at',
  },
  {
    table: 'software_secrets',
    what: 'sealed secrets of own software, unless its machine is still being started',
    keptMs: softwareLimits.secretsKeptMs,
    since: 'created_at',
    only: "not exists (select 1 from rentals r where r.status = 'provisioning' and r.software ->> 'secretsId' = t.id and r.software is not null)",
  },
  {
    table: 'rental_changes',
    what: 'changes of rentals that nobody made; those that were answered stay',
    keptMs: 30 * DAY,
    since: 'asked_at',
    only: 't.answered_at is null',
  },
  {
    table: 'quotes',
    what: 'quotes; a rental that was opened by one stays',
    keptMs: DAY,
    since: 'expires_at',
  },
  {
    table: 'listings',
    what: 'offers that left, unless a quote names them',
    keptMs: 90 * DAY,
    since: 'offer_changed_at',
    only: 'not t.offered and not exists (select 1 from quotes q where q.listing_id = t.id)',
  },
  {
    table: 'topup_requests',
    what: 'what users asked to pay in; the top-up itself stays',
    keptMs: 30 * DAY,
    since: 'requested_at',
  },
  {
    table: 'rental_warnings',
    what: 'ends of machines that users were warned of',
    keptMs: 7 * DAY,
    since: 'at',
  },
  {
    table: 'answered_machines',
    what: 'where machines answered that were never billed',
    keptMs: 2 * DAY,
    since: 'answered_at',
  },
  {
    table: 'intents',
    what: 'what transactions left to do, once done',
    keptMs: 7 * DAY,
    since: 'acknowledged_at',
  },
  { table: 'look_signals', what: 'which workflows were told', keptMs: 2 * DAY, since: 'wanted_at' },
  {
    table: 'stuck_items',
    what: 'failed items that no loop finds any more',
    keptMs: 2 * DAY,
    since: 'next_attempt_at',
  },
  { table: 'operator_notices', what: 'what operators were told of', keptMs: 400 * DAY, since: 'told_at' },
  { table: 'mail_outbox', what: 'mails that were sent', keptMs: 180 * DAY, since: 'sent_at' },
  { table: 'events', what: 'the feed of events', keptMs: eventLimits.keptMs, since: 'sequenced_at' },
  {
    table: 'user_notices',
    what: 'what users were told without having asked',
    keptMs: 180 * DAY,
    since: 'told_at',
  },
  {
    table: 'budget_alerts',
    what: 'what users were told of their budgets',
    keptMs: 400 * DAY,
    since: 'told_at',
  },
  {
    table: 'stream_hosts',
    what: 'API processes that hold streams no longer',
    keptMs: DAY,
    since: 'seen_at',
  },
  {
    table: 'webhooks',
    what: 'removed webhook endpoints; what they were sent goes with them',
    keptMs: webhookLimits.shownMs,
    since: 'removed_at',
  },
  { table: 'webhook_secrets', what: 'replaced secrets of webhooks', keptMs: 0, since: 'expires_at' },
  {
    table: 'webhook_deliveries',
    what: 'tries to deliver webhooks',
    keptMs: webhookLimits.shownMs,
    since: 'at',
  },
  {
    table: 'processor_events',
    what: 'handled events of the payment processor; those of an open dispute stay',
    keptMs: 400 * DAY,
    since: 'received_at',
    only: `t.handled_at is not null and not exists (
      select 1 from refunds_and_disputes r where r.id = t.workflow_id and r.closed_at is null)`,
  },
  {
    table: 'odd_events',
    what: 'what the payment processor signed and nobody can read',
    keptMs: 90 * DAY,
    since: 'last_received_at',
  },
  {
    table: 'allocation_attempts',
    what: 'purchases at upstreams whose rental is closed and whose machine is gone',
    keptMs: 400 * DAY,
    since: 'created_at',
    only: `t.state in ('adopted', 'failed', 'gone')
      and not exists (select 1 from rentals r where r.id = t.rental_id and r.closed_at is null)
      and not exists (select 1 from pods p where p.tag = t.tag and p.gone_at is null)`,
  },
  {
    table: 'machine_tokens',
    what: 'tokens of machines that may not call any more, with what they open',
    keptMs: softwareLimits.secretsKeptMs,
    since: 'created_at',
    only: 'not machine_may_call(t.attempt_id)',
  },
  {
    table: 'machine_tokens',
    what: 'what a token opened that nobody fetched, or acknowledged, in its hour; the token stays',
    keptMs: HOUR,
    since: 'created_at',
    only: 't.sealed is not null and not t.kept and machine_bundle_ends_at(t) < clock_ms()',
    cut: 'sealed',
  },
  {
    table: 'bad_machines',
    what: 'machines that were called bad',
    keptMs: 32 * DAY,
    since: 'found_at',
  },
  { table: 'machine_reports', what: 'what machines told', keptMs: 32 * DAY, since: 'received_at' },
  {
    table: 'machine_reports',
    what: 'what machines told that nobody judged',
    keptMs: 7 * DAY,
    since: 'received_at',
    only: 't.verdict is null',
  },
  {
    table: 'machine_uses',
    what: 'the newest reports of use, of machines that may not call any more',
    keptMs: DAY,
    since: 'created_at',
    only: 'not machine_may_call(t.attempt_id)',
  },
  {
    table: 'pods',
    what: 'machines that are gone, whose rental is closed',
    keptMs: 400 * DAY,
    since: 'gone_at',
    only: `not exists (select 1 from rentals r
      where r.provider_code = t.provider_code and r.pod_id = t.pod_id and r.closed_at is null)`,
  },
  {
    table: 'reliability_hours',
    what: 'what happened at upstreams, by hour; the catalog tells 30 days of it',
    keptMs: 32 * DAY,
    since: 'hour',
  },
  {
    table: 'telemetry_hours',
    what: 'how much machines were used, by hour',
    keptMs: telemetryLimits.keptDays * DAY,
    since: 'hour',
  },
  {
    table: 'catalog_hours',
    what: 'in which hours the offers of upstreams were read',
    keptMs: catalogLimits.historyDays * DAY,
    since: 'hour',
  },
  {
    table: 'offer_hours',
    what: 'what was on sale, by hour',
    keptMs: catalogLimits.historyDays * DAY,
    since: 'hour',
  },
  {
    table: 'meter_shards',
    what: 'tick engines that there are no more',
    keptMs: 7 * DAY,
    since: 'last_tick_at',
  },
  {
    table: 'provider_oddities',
    what: 'what was skipped in answers of upstreams',
    keptMs: 90 * DAY,
    since: 'last_seen_at',
  },
  {
    table: 'reconcile_findings',
    what: 'findings that are resolved',
    keptMs: 400 * DAY,
    since: 'resolved_at',
    only: `t.state = 'resolved'`,
  },
  {
    table: 'reconcile_runs',
    what: 'comparisons of the books, and what they read, unless a finding names them',
    keptMs: 30 * DAY,
    since: 'started_at',
    only: `not exists (select 1 from reconcile_findings f where f.first_run_id = t.id)
      and not exists (select 1 from reconcile_findings f where f.last_run_id = t.id)`,
  },
  {
    table: 'restore_items',
    what: 'what looks at a restored database found',
    keptMs: 90 * DAY,
    since: 'listed_at',
  },
  {
    table: 'audit_events',
    what: 'from where something was done; that it was done stays',
    keptMs: 90 * DAY,
    since: 'at',
    only: 't.client_address is not null',
    cut: 'client_address',
  },
];

/** Tables that lose nothing by age, each with the reason. */
export const forGood: Readonly<Record<string, string>> = {
  ledger_entries: 'the ledger',
  ledger_seals: 'the ledger, packed',
  ledger_sealing: 'one row',
  ledger_hashes: 'the proof of the ledger',
  ledger_note_salts: 'the proof of the ledger',
  ledger_erased_notes: 'the proof of the ledger, without the words of an account that was closed',
  ledger_roots: 'the proof of the ledger, a row a night',
  lost_roots: 'the proof of the ledger, a row for each night that a restore lost',
  wallet_proof_ids: 'one row for each wallet',
  statement_months: 'one row a month',
  ledger_causes: 'what each entry was written for',
  operator_actions: 'what operators did',
  operator_orders: 'what operators asked for',
  operator_order_items: 'what operators asked for, by rental',
  users: 'accounts',
  account_closings: 'accounts that were closed, by number',
  closing_refunds: 'what went back to cards when accounts were closed',
  closed_marks: 'what recognizes the mailboxes and cards of closed accounts',
  wallets: 'accounts',
  ssh_keys: 'their owner removes them',
  passkeys: 'their owner removes them',
  identities: 'one row per account elsewhere that signs in',
  installation_keys: 'one row per key',
  auto_topups: 'one row per account',
  budgets: 'one row per account',
  billing_details: 'one row per account; its user empties it',
  notice_settings: 'one row per kind of mail that its user has switched off',
  saved_cards: 'a late event may not bring a removed card back',
  topups: 'money that came in',
  invoices: 'what is owed, and was',
  invoice_line_items: 'what is owed, and was',
  refunds_and_disputes: 'money that was taken back',
  parked_payments: 'money that came in and is nobody’s',
  rentals: 'what was rented, and at which price',
  rental_labels: 'what statements are grouped by',
  stop_requests: 'when a rental was to end: its bill rests on it',
  charge_marks: 'whose payment was denied: the mark holds until an operator lifts it',
  idle_guards: 'one row per guarded rental, which shows it',
  lost_machines: 'when a machine was last seen alive: its bill rests on it',
  meter_readings: 'one row per running rental',
  providers: 'one row per upstream',
  provider_quotas: 'one row per upstream',
  provider_families: 'one row per family and upstream',
  reliability: 'one row per family and upstream',
  unknown_pods: 'machines that a restored database did not know',
  reconcile_sources: 'one row per source',
  reconcile_documents: 'goes with its run',
  event_cursor: 'one row',
  webhook_retries: 'an event is tried for three days',
  webhook_feed: 'one row',
  event_outbox: 'the sequencer empties it',
  event_feeds: 'one row per account: a number is never given twice',
  open_streams: 'goes with its process',
  brakes: 'one row per pulled brake',
  watermark: 'one row',
  witnesses: 'goes with its process',
};
