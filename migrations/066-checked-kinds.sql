-- Checks the rows of before by the constraints that 063 and 065 added. It reads whole tables, and keeps nobody from reading
-- or writing them; nobody waits behind it either, so it may wait for an autovacuum.
set local lock_timeout = '1min';
alter table rental_requests validate constraint rental_requests_idle_guard_check;
alter table rentals validate constraint rentals_stop_reason_check;
alter table stop_requests validate constraint stop_requests_requested_by_check;
alter table user_notices validate constraint user_notices_kind_check;
alter table notice_settings validate constraint notice_settings_kind_check;
alter table audit_events validate constraint audit_events_kind_check;
