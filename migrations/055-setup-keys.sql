-- Keys with the scope `setup` (decision 149, "Keys that set up"). What a key made names it as long as it is there, also
-- when the key is long gone: an SSH key of a program never becomes one that opens every machine.
alter table api_keys drop constraint api_keys_scopes_check, add constraint api_keys_scopes_check
  check (cardinality(scopes) between 1 and 4 and scopes <@ array['read', 'rentals', 'billing', 'setup']) not valid;
alter table ssh_keys add column api_key_id text,
  add constraint ssh_keys_api_key_id_check check (api_key_id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$') not valid;
alter table webhooks add column api_key_id text,
  add constraint webhooks_api_key_id_check check (api_key_id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$') not valid;
grant insert (api_key_id) on webhooks to gpu_rental_api;
alter table user_notices drop constraint user_notices_kind_check, add constraint user_notices_kind_check
  check (kind in (
    'rental_auto_stop', 'rental_spend_limit', 'rental_balance_exhausted', 'rental_operator_stop', 'rental_lost',
    'rental_failed', 'auto_topup_off', 'ssh_key_added', 'card_saved', 'api_key_created', 'budget_reached', 'setup_acted'
  )) not valid;
