-- What upstreams tell of the use of machines (decision 166, "Use of machines"): one row for each rental and hour.
create table telemetry_hours (
  rental_no bigint not null references rentals (no) on delete restrict,
  hour timestamptz(3) not null check (date_trunc('hour', hour, 'UTC') = hour),
  -- Who told it.
  source text not null check (source in ('upstream')),
  -- Five bytes for each of its 60 minutes, each a whole per cent, and 255 for what was not told: all GPUs, the busiest
  -- of them, their memory, the processors, the memory.
  minutes bytea not null check (length(minutes) = 300),
  primary key (rental_no, hour)
) with (fillfactor = 50);
create index telemetry_hours_age on telemetry_hours (hour);
grant select on telemetry_hours to gpu_rental_api, gpu_rental_ops;
grant select, insert, update (minutes), delete on telemetry_hours to gpu_rental_worker;

-- What an upstream tells: TelemetryTold in domain/machines/telemetry.ts; null: nothing, or nobody has told.
alter table providers
  add column telemetry jsonb constraint providers_telemetry_check check (jsonb_typeof(telemetry) = 'object');

-- The rentals that stop when they are idle (decision 167, "The idle guard"), by their renters' wish.
create table idle_guards (
  rental_no bigint not null primary key references rentals (no) on delete restrict,
  -- For how many minutes a machine must be idle, and what of its use does not count.
  minutes integer not null check (minutes between 15 and 1440),
  ignores text[] not null default '{}' check (ignores <@ array['sessions']),
  -- Since when it is idle, and until when that was seen; null: it was in use, or nobody tells.
  idle_since timestamptz(3),
  seen_at timestamptz(3),
  -- When it stops, as its renter was warned; null before.
  stops_at timestamptz(3),
  -- Until then it does not stop for being idle.
  keep_alive_until timestamptz(3)
);
grant select, insert, update, delete on idle_guards to gpu_rental_api, gpu_rental_worker;
grant select on idle_guards to gpu_rental_ops;

alter table rental_requests
  add column idle_guard jsonb,
  add constraint rental_requests_idle_guard_check check (jsonb_typeof(idle_guard) = 'object') not valid;

alter table rentals drop constraint rentals_stop_reason_check, add constraint rentals_stop_reason_check
  check (stop_reason in ('user', 'auto_stop', 'spend_limit', 'balance_exhausted', 'pod_lost', 'operator', 'idle')) not valid;
alter table stop_requests drop constraint stop_requests_requested_by_check, add constraint stop_requests_requested_by_check
  check (requested_by in ('user', 'operator', 'idle')) not valid;
-- The API stops for users alone.
drop trigger stop_requests_of_operators on stop_requests;
create trigger stop_requests_of_operators before insert on stop_requests
  for each row when (new.requested_by <> 'user') execute function refuse_to_the_api();

alter table user_notices drop constraint user_notices_kind_check, add constraint user_notices_kind_check
  check (kind in (
    'rental_auto_stop', 'rental_spend_limit', 'rental_idle_near', 'rental_idle', 'rental_balance_exhausted',
    'rental_operator_stop', 'rental_lost', 'rental_failed', 'auto_topup_off', 'ssh_key_added', 'card_saved',
    'api_key_created', 'budget_reached', 'setup_acted'
  )) not valid;
alter table notice_settings drop constraint notice_settings_kind_check, add constraint notice_settings_kind_check
  check (kind in (
    'rental_auto_stop', 'rental_spend_limit', 'rental_idle_near', 'rental_idle', 'rental_operator_stop', 'rental_lost',
    'rental_failed'
  )) not valid;
