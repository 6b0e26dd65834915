-- Purchases that wait for their turn at an upstream which sells one machine at a time (decision 158, "Machines in turn").
alter table allocation_attempts
  -- When one is expected to be made; null once its outcome is known, or unknown, and for all that never waited.
  add column launch_at timestamp(3) with time zone,
  -- When the upstream was asked for one that waits: it may have bought a machine since.
  add column asked_at timestamp(3) with time zone,
  -- Until when its upstream refuses to be asked for it again, because others had their turn.
  add column not_before timestamp(3) with time zone,
  add constraint allocation_attempts_asked_check check (asked_at is null or launch_at is not null) not valid;
