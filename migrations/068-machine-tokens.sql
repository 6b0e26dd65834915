-- What machines ask for and tell (decision 172, "The listener of machines"). The process that they call works as a role of
-- its own, which reads and writes no table: it may call three functions, and each looks at one token.

-- Makes the role of a process, as the baseline does: roles belong to the whole cluster, another database of which may have
-- them already, or be making them right now. The owner becomes a member, unless another owner has made it.
create procedure make_process_role(role text)
 language plpgsql
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $procedure$
  begin
    begin
      if not exists (select 1 from pg_roles where rolname = role) then
        execute format('create role %I nologin', role);
      end if;
    exception
      when duplicate_object or unique_violation then null;
      when insufficient_privilege then
        raise exception 'The role % is missing and this user may not make it. Run as a superuser: create role % nologin; or give this user createrole. Then migrate again.', role, role;
    end;
    for attempt in 1..20 loop
      begin
        execute format('grant %I to current_user with inherit false, set true', role);
        exit;
      exception
        when insufficient_privilege then exit;
        when unique_violation or internal_error then perform pg_sleep(0.05);
      end;
    end loop;
  end $procedure$;
revoke execute on procedure make_process_role from public;
call make_process_role('gpu_rental_machine');

-- The tokens of an attempt's machine, one for each purpose. Only their hashes are here, and what a bundle's token opens.
create table machine_tokens (
  token_sha256 bytea not null primary key check (length(token_sha256) = 32),
  attempt_id bigint not null references allocation_attempts (id) on delete cascade,
  -- bundle: fetches what the machine runs. report: tells how the machine is. use (086): tells how much it is used.
  purpose text not null check (purpose in ('bundle', 'report')),
  -- Sealed by a key that is made from the token; null once it was acknowledged, and for reports.
  sealed bytea check (length(sealed) <= 1048576),
  fetches integer not null default 0,
  first_fetched_at timestamptz(3),
  acknowledged_at timestamptz(3),
  -- How many reports came by it.
  reports integer not null default 0,
  created_at timestamptz(3) not null default clock_ms(),
  unique (attempt_id, purpose),
  constraint machine_tokens_sealed check ((purpose = 'bundle' and acknowledged_at is null) = (sealed is not null))
);
create index machine_tokens_age on machine_tokens (created_at);

-- What machines told: the newest hundred of each attempt.
create table machine_reports (
  attempt_id bigint not null references allocation_attempts (id) on delete cascade,
  -- Counts the attempt's reports from 1 on.
  no integer not null,
  received_at timestamptz(3) not null default clock_ms(),
  body text not null check (octet_length(body) between 1 and 4096),
  primary key (attempt_id, no)
);
create index machine_reports_age on machine_reports (received_at);

grant select, insert, delete on machine_tokens to gpu_rental_worker;
grant select, delete on machine_reports to gpu_rental_worker;
grant select (attempt_id, purpose, fetches, first_fetched_at, acknowledged_at, reports, created_at) on machine_tokens
  to gpu_rental_ops;
grant select on machine_reports to gpu_rental_ops;

-- Whether the machine of an attempt may still call: the attempt is not given up, and its rental has not ended.
create function machine_may_call(of_attempt bigint)
 returns boolean
 language sql stable
as $function$
  select exists (
    select 1 from allocation_attempts a
     where a.id = of_attempt and a.state in ('open', 'adopted')
       and not exists (select 1 from rentals r where r.id = a.rental_id and r.status not in ('provisioning', 'running')))
$function$;

-- Hands out the sealed bundle of a token, and tells its renter. Null for every token that opens nothing now: an unknown
-- one, one of another purpose, an acknowledged one, one of a machine that is given up, one that was used up, and one whose
-- rental is not yet on record.
create function machine_bundle(of_token bytea)
 returns bytea
 language plpgsql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  declare
    token machine_tokens;
    rental rentals;
  begin
    select * into token from machine_tokens where token_sha256 = of_token and purpose = 'bundle' for update;
    if not found or token.sealed is null or token.fetches >= 5
       or token.first_fetched_at < clock_ms() - interval '60 minutes' or not machine_may_call(token.attempt_id) then
      return null;
    end if;
    select r.* into rental from allocation_attempts a join rentals r on r.id = a.rental_id where a.id = token.attempt_id;
    if not found then
      return null;
    end if;
    update machine_tokens set fetches = fetches + 1, first_fetched_at = coalesce(first_fetched_at, clock_ms())
     where token_sha256 = of_token;
    insert into event_outbox (user_id, type, entity_id, data)
    values (rental.user_id, 'rental.script_fetched', rental.id, jsonb_build_object('fetch', token.fetches + 1));
    return token.sealed;
  end $function$;

-- Ends the token of a bundle that its machine has whole, and wipes the bundle. Returns whether it did.
create function machine_acknowledge(of_token bytea)
 returns boolean
 language plpgsql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  begin
    update machine_tokens set acknowledged_at = clock_ms(), sealed = null
     where token_sha256 = of_token and purpose = 'bundle' and acknowledged_at is null and fetches > 0
       and machine_may_call(attempt_id);
    return found;
  end $function$;

-- Keeps a report. Returns kept, repeated (it has this very text already) or too_many (ten in a minute), and null for
-- every token that reports nothing.
create function machine_report(of_token bytea, told text)
 returns text
 language plpgsql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  declare
    token machine_tokens;
  begin
    select * into token from machine_tokens where token_sha256 = of_token and purpose = 'report' for update;
    if not found or not machine_may_call(token.attempt_id) then
      return null;
    end if;
    if exists (select 1 from machine_reports r where r.attempt_id = token.attempt_id and r.body = told) then
      return 'repeated';
    end if;
    if (select count(*) from machine_reports r
         where r.attempt_id = token.attempt_id and r.received_at > clock_ms() - interval '1 minute') >= 10 then
      return 'too_many';
    end if;
    update machine_tokens set reports = reports + 1 where token_sha256 = of_token;
    insert into machine_reports (attempt_id, no, body) values (token.attempt_id, token.reports + 1, told);
    delete from machine_reports r where r.attempt_id = token.attempt_id and r.no <= token.reports + 1 - 100;
    return 'kept';
  end $function$;

revoke execute on function machine_bundle, machine_acknowledge, machine_report from public;
grant execute on function machine_bundle, machine_acknowledge, machine_report to gpu_rental_machine;
