-- What upstreams tell of the use of machines (decision 169, "Telemetry"): one row for each rental and hour.
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
