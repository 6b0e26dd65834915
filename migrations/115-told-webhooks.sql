-- A webhook that is switched off is a notice of its own kind, which its user may switch off (decision 103, "Notices by mail").
alter table user_notices drop constraint user_notices_kind_check, add constraint user_notices_kind_check
  check (kind in (
    'rental_auto_stop', 'rental_spend_limit', 'rental_idle_near', 'rental_idle', 'rental_balance_exhausted',
    'rental_operator_stop', 'rental_lost', 'rental_failed', 'auto_topup_off', 'ssh_key_added', 'card_saved',
    'api_key_created', 'api_key_widened', 'budget_reached', 'setup_acted', 'passkey_added', 'passkey_refused', 'statement',
    'webhook_switched_off'
  )) not valid;
alter table notice_settings drop constraint notice_settings_kind_check, add constraint notice_settings_kind_check
  check (kind in (
    'rental_auto_stop', 'rental_spend_limit', 'rental_idle_near', 'rental_idle', 'rental_operator_stop', 'rental_lost',
    'rental_failed', 'statement', 'webhook_switched_off'
  )) not valid;
