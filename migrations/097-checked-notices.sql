-- Checks the rows of before by the constraint that 096 added, as 066 does.
set local lock_timeout = '1min';
alter table user_notices validate constraint user_notices_kind_check;
