-- A reporter of use (decision 181, "A reporter of use"): where an upstream tells nothing, a machine tells it itself, only
-- when its renter asks for that.

alter table rental_requests add column telemetry boolean not null default false;
-- Whether its renter asks for its use to be told.
alter table rentals add column telemetry boolean not null default false;

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
    r.ready_by,
    r.telemetry
   from rentals r
     left join meters m on m.rental_no = r.no;

-- The rows of before are checked by 087. use: tells how much the machine is used.
alter table machine_tokens drop constraint machine_tokens_purpose_check, add constraint machine_tokens_purpose_check
  check (purpose in ('bundle', 'report', 'use')) not valid;
alter table telemetry_hours drop constraint telemetry_hours_source_check, add constraint telemetry_hours_source_check
  check (source in ('upstream', 'reporter')) not valid;

-- The newest report of each machine that tells its use. Each takes the place of the one before, on the same page.
create table machine_uses (
  attempt_id bigint not null primary key references allocation_attempts (id) on delete cascade,
  -- By our clock.
  received_at timestamptz(3) not null default clock_ms(),
  -- How long the machine ran, in seconds, as it counts: the next report has more.
  uptime bigint not null,
  body text not null check (octet_length(body) between 1 and 4096),
  -- When its first report came: no index knows what each report changes.
  created_at timestamptz(3) not null default clock_ms()
) with (fillfactor = 50);
create index machine_uses_age on machine_uses (created_at);
grant select, delete on machine_uses to gpu_rental_worker;
grant select on machine_uses to gpu_rental_ops;

-- Keeps a report of use. Its answer tells what became of it: kept, repeated (its uptime is not above that of the one
-- before), too_many (within six seconds of the one before) or unreadable; and when the machine stops for being idle, in
-- milliseconds since 1970, null while nobody was warned. Null for every token that tells no use.
create function machine_use(of_token bytea, told text)
 returns jsonb
 language plpgsql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  declare
    by_attempt bigint;
    says bigint := substring(told from '^gpu-use 1 ([0-9]{1,12}) ');
  begin
    select attempt_id into by_attempt from machine_tokens where token_sha256 = of_token and purpose = 'use';
    if not found or not machine_may_call(by_attempt) then
      return null;
    end if;
    if says is null then
      return jsonb_build_object('outcome', 'unreadable');
    end if;
    insert into machine_uses as u (attempt_id, uptime, body) values (by_attempt, says, told)
    on conflict (attempt_id) do update set received_at = excluded.received_at, uptime = says, body = told
     where u.uptime < says and u.received_at <= excluded.received_at - interval '6 seconds';
    if not found then
      return jsonb_build_object('outcome',
        case when exists (select 1 from machine_uses u where u.attempt_id = by_attempt and u.uptime >= says)
          then 'repeated' else 'too_many' end);
    end if;
    return jsonb_build_object('outcome', 'kept', 'stopsAtMs', (
      select epoch_ms(g.stops_at) from allocation_attempts a
        join rentals r on r.id = a.rental_id join idle_guards g on g.rental_no = r.no
       where a.id = by_attempt));
  end $function$;
revoke execute on function machine_use from public;
grant execute on function machine_use to gpu_rental_machine;
