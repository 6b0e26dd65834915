/**
 * Where a PostgreSQL on several nodes would keep each table (docs/scale.md, "Split by wallet"). A wallet and its user are
 * one for good, so the column of either says whose a row is.
 */

const names = (text: string): readonly string[] => text.trim().split(/\s+/);

/** The tables whose rows belong to one wallet, by the column that says which one. */
export const distributed: Readonly<Record<string, readonly string[]>> = {
  wallet_id: names(`
    wallets ledger_entries ledger_causes ledger_erased_notes ledger_hashes ledger_note_salts ledger_seals wallet_proof_ids
    rentals meter_readings topups auto_topups invoices refunds_and_disputes intents`),
  user_id: names(`
    users account_closings closing_refunds sessions identities proof_codes failed_sign_ins account_ties api_keys ssh_keys passkeys billing_details
    saved_cards card_setups budgets budget_alerts quotes rental_requests rental_changes rental_labels
    topup_requests idempotency_keys audit_events event_outbox event_feeds events open_streams webhooks
    notice_settings user_notices`),
  rental_no: names(
    'answered_machines lost_machines rental_warnings stop_requests telemetry_hours idle_guards',
  ),
  rental_id: names('allocation_attempts bad_machines'),
  attempt_id: names('machine_reports machine_tokens machine_uses'),
  invoice_id: names('invoice_line_items'),
  webhook_id: names('webhook_deliveries webhook_retries webhook_secrets'),
};

/** The rows that a column other than the wallet's or user's names. Their tables take that column over. */
export const parents: Readonly<Record<string, string>> = {
  rental_no: 'rentals.no',
  rental_id: 'rentals.id',
  attempt_id: 'allocation_attempts.id',
  invoice_id: 'invoices.id',
  webhook_id: 'webhooks.id',
};

/** The tables of which each node has all rows: they are read together with a wallet's rows. */
export const copied = names(`
    providers listings provider_families brakes ledger_sealing watermark witnesses installation_keys`);

/** The tables that one node keeps for all. */
export const onOneNode = names(`
    login_codes closed_marks oauth_states passkey_challenges software_secrets rate_limits stream_hosts event_cursor webhook_feed mail_outbox
    look_signals stuck_items meter_shards ledger_roots lost_roots processor_events odd_events parked_payments
    charge_marks statement_months reconcile_runs reconcile_sources reconcile_documents reconcile_findings operator_actions
    operator_notices operator_orders operator_order_items pods unknown_pods restore_items provider_oddities provider_quotas
    catalog_hours offer_hours reliability reliability_hours knex_migrations knex_migrations_lock`);

/** What spans wallets: each key, reference and trigger by name, under the reason that lets it, or the way out. */
export const spanning: readonly { readonly reason: string; readonly names: readonly string[] }[] = [
  {
    reason:
      'Made by us so that no two are alike: a ULID, a random token, a number of a counter. The key takes the wallet’s column in, and no node asks another.',
    names: names(`
    allocation_attempts_pkey allocation_attempts_tag_key api_keys_pkey audit_events_id_key audit_events_pkey
    card_setups_pkey closing_refunds_pkey event_outbox_pkey events_id_key events_pkey intents_pkey invoice_line_items_pkey
    invoices_pkey open_streams_id_key open_streams_pkey passkeys_pkey proof_codes_pkey quotes_pkey rental_changes_pkey
    rental_requests_pkey rentals_id_key rentals_pkey sessions_id_key ssh_keys_pkey topup_requests_pkey
    topups_pkey user_notices_pkey wallet_proof_ids_proof_id_key webhook_deliveries_id_key
    webhook_deliveries_pkey webhooks_pkey`),
  },
  {
    reason: 'All that a caller brings: a directory on one node leads from it to the user.',
    names: names(`
    api_keys_token_hash_key sessions_pkey identities_pkey users_email_key passkeys_credential_id_key
    machine_tokens_pkey`),
  },
  {
    reason:
      'Named by the payment processor, and never to serve two wallets: a directory on one node gives it to one of them first.',
    names: names(`
    topups_payment_id_key topups_session_id_key invoices_payment_id_key invoices_processor_invoice_id_key
    users_processor_customer_id_key card_setups_setup_id_key saved_cards_pkey refunds_and_disputes_pkey
    ledger_causes_pkey`),
  },
  {
    reason: 'Holds an id of something of one wallet: with the wallet’s column it promises the same.',
    names: names(`
    audit_events_once bad_machines_pkey invoices_cause_key user_notices_cause_key intents_of_rental meter_readings_pkey
    rental_labels_pkey rental_labels_place quotes_rental_id_key`),
  },
  {
    reason: 'Points at a row of the same wallet: both sides take the wallet’s column in.',
    names: names(`
    bad_machines_attempt_id_fkey intents_rental_no_fkey invoice_line_items_rental_no_fkey invoices_rental_no_fkey
    open_streams_api_key_id_fkey open_streams_token_hash_fkey quotes_rental_id_fkey
    refunds_and_disputes_invoice_id_fkey rental_changes_rental_no_fkey rental_labels_rental_no_fkey
    rentals_api_key_id_fkey`),
  },
  {
    reason:
      'Leads from one wallet’s rows to a table of one node, or back: it goes, and a loop looks for what is left over.',
    names: names(`
    open_streams_host_id_fkey charge_marks_user_id_fkey operator_order_items_rental_no_fkey
    closed_marks_user_id_fkey`),
  },
  {
    reason:
      'Looks at rows of the same wallet alone: it runs on the wallet’s node, once its statements name the wallet.',
    names: names(`
    api_keys_reserve rentals_reserve rental_labels_stay rental_changes_stay rental_changes_not_truncated
    audit_events_stay audit_events_not_truncated rentals_meter_begins rentals_meter_follows
    wallets_metered_again ledger_seals_added ledger_entries_stay ledger_note_salts_stay`),
  },
  {
    reason:
      'Gets a statement’s rows of many wallets and compares none of one with those of another: each node looks at its own.',
    names: names(`
    wallets_changed ledger_entries_added ledger_entries_gone ledger_seals_gone`),
  },
  {
    reason:
      'Asks whether the server was restored: each node answers for itself, so each has a watermark of its own.',
    names: names(`
    allocation_attempts_when_restored ledger_entries_when_restored rentals_when_restored`),
  },
  {
    reason: 'Asks whether an account is erased whose operator’s act loses words: its node says so before.',
    names: names('operator_actions_stay operator_actions_not_truncated operator_orders_changed'),
  },
  {
    reason:
      'Wakes the closing of an account when an order about it is decided, or an act done: its node looks for them.',
    names: names('operator_orders_wake operator_actions_wake'),
  },
  {
    reason: 'Takes the number of the next root from one node: whoever seals hands it over.',
    names: names('ledger_seals_hashed'),
  },
];
