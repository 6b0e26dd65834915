-- Proof of machines (decisions 174, "Proof of machines", and 175, "Claims of machines"). What a machine told while it ran is
-- judged once; null: it was not, or it told something else.
alter table machine_reports
  add column verdict text constraint machine_reports_verdict_check check (verdict in ('ok', 'not_told', 'bad'));
create index machine_reports_unjudged on machine_reports (attempt_id) where verdict is null;
grant update (verdict) on machine_reports to gpu_rental_worker;

-- What a list tells of the hardware itself: ListedHardware in domain/machines/claims.ts; null: nothing.
alter table pods add column hardware jsonb;

-- The machines that were called bad, one for each purchase.
create table bad_machines (
  attempt_id bigint not null primary key references allocation_attempts (id) on delete cascade,
  rental_id text not null,
  provider_code text not null,
  -- The upstream's own name of the machine under it; null where it tells none, so that nobody knows it again.
  machine text,
  faults text[] not null,
  -- What became of its rental's money: billing never began, all was given back, or the bill stands.
  outcome text not null check (outcome in ('not_billed', 'refunded', 'billed')),
  -- Whether anybody but its renter says so.
  confirmed boolean not null,
  found_at timestamptz(3) not null default clock_ms()
);
create index bad_machines_machine on bad_machines (provider_code, machine, found_at) where machine is not null;
create index bad_machines_age on bad_machines (found_at);
grant select, insert, delete on bad_machines to gpu_rental_worker;
grant select on bad_machines to gpu_rental_ops;
