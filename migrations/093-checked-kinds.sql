-- Checks the rows of before by the constraint that 088 added, as 066 does.
set local lock_timeout = '1min';
alter table audit_events validate constraint audit_events_kind_check;
