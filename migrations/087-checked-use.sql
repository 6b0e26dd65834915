-- Checks the rows of before by the constraints that 086 added, as 066 does.
set local lock_timeout = '1min';
alter table machine_tokens validate constraint machine_tokens_purpose_check;
alter table telemetry_hours validate constraint telemetry_hours_source_check;
