-- Checks the rows of before by the constraints that 055, 056 and 059 added. It reads whole tables and keeps nobody from
-- reading or writing them; nobody waits behind it either, so it may wait for an autovacuum.
set local lock_timeout = '1min';
alter table api_keys validate constraint api_keys_scopes_check;
alter table ssh_keys validate constraint ssh_keys_api_key_id_check;
alter table webhooks validate constraint webhooks_api_key_id_check;
alter table user_notices validate constraint user_notices_kind_check;
alter table rentals validate constraint rentals_software_check, validate constraint rentals_ready_by_check;
alter table rental_requests validate constraint rental_requests_software_check;
alter table pods validate constraint pods_ports_check;
alter table answered_machines
  validate constraint answered_machines_ready_by_check,
  validate constraint answered_machines_address;
alter table allocation_attempts validate constraint allocation_attempts_asked_check;
