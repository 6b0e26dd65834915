-- Own software (decision 153, "Own software"): what a renter runs instead of a template, without its secrets.
-- Rows of before are checked by 062, which locks nobody out.
alter table rentals
  add column software jsonb,
  -- What began its billing; null before, and for machines that only SSH begins.
  add column ready_by text,
  add constraint rentals_software_check check (jsonb_typeof(software) = 'object') not valid,
  add constraint rentals_ready_by_check check (ready_by in ('ssh', 'port', 'grace')) not valid;
alter table rental_requests
  add column software jsonb,
  add constraint rental_requests_software_check check (jsonb_typeof(software) = 'object') not valid;

-- What an upstream can do with it: SoftwareCapabilities in domain/rentals/software.ts; null: nothing, or nobody has told.
alter table providers
  add column software jsonb constraint providers_software_check check (jsonb_typeof(software) = 'object');

alter table pods
  -- The ports that an upstream has mapped; null where it maps none.
  add column ports jsonb,
  add constraint pods_ports_check check (jsonb_typeof(ports) = 'array') not valid;

-- A machine may be ready without any address for SSH.
alter table answered_machines
  alter column host drop not null,
  alter column port drop not null,
  alter column username drop not null,
  add column ready_by text,
  add constraint answered_machines_ready_by_check check (ready_by in ('ssh', 'port', 'grace')) not valid,
  add constraint answered_machines_address check (num_nonnulls(host, port, username) in (0, 3)) not valid;

-- The secrets of own software, sealed for the worker (decision 154, "Sealed software"). The API can't read them back.
create table software_secrets (
  id text not null,
  sealed bytea not null,
  created_at timestamp(3) with time zone default clock_ms() not null,
  constraint software_secrets_pkey primary key (id),
  constraint software_secrets_id_check check (id ~ '^sw_[0-9A-HJKMNP-TV-Z]{26}$')
);
create index software_secrets_created_at_idx on software_secrets (created_at);
grant insert, select (id) on software_secrets to gpu_rental_api;
grant select, delete on software_secrets to gpu_rental_worker;
grant select (id, created_at) on software_secrets to gpu_rental_ops;

-- The rentals with what their meters show now; new columns come at the end.
create or replace view rentals_now as
 select r.no,
    r.id,
    r.wallet_id,
    r.user_id,
    r.status,
    r.name,
    r.family,
    r.model,
    r.gpu_count,
    r.region,
    r.region_code,
    r.interconnect,
    r.template_id,
    r.ssh_key_ids,
    r.listing_id,
    r.provider_code,
    r.tag,
    r.pod_id,
    r.host,
    r.port,
    r.username,
    r.host_key_fingerprint,
    r.price_per_hour_cents,
    r.max_spend_cents,
    r.auto_stop_after_ms,
    r.refunded_cents,
    r.released_cents,
    r.overage_cents,
    r.written_off_cents,
    r.started_at,
    r.running_at,
    r.auto_stop_at,
    r.spend_limit_at,
    r.ended_at,
    r.settled_at,
    r.terminated_at,
    r.closed_at,
    r.stop_reason,
    r.error,
    r.opened_seq,
    r.settled_seq,
    r.running_ms,
    r.limit_ms,
    coalesce(m.hold_cents, r.hold_cents) as hold_cents,
    coalesce(m.charged_cents, r.charged_cents) as charged_cents,
    r.api_key_id,
    r.own_ssh_keys,
    r.notes,
    r.software,
    r.ready_by
   from rentals r
     left join meters m on m.rental_no = r.no;
