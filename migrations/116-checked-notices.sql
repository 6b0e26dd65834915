-- Checks the rows of before by the constraints that 115 added, as 066 does.
set local lock_timeout = '1min';
alter table user_notices validate constraint user_notices_kind_check;
alter table notice_settings validate constraint notice_settings_kind_check;
