-- A bundle again after a restart (decision 185, "In place of entrypoints"): what an image's entrypoint was replaced by is
-- fetched by each start of its container, whose disk is a new one then.

-- When the upstream last started it; null where its list does not tell.
alter table pods add column started_at timestamptz(3);
-- What the list told first: no restart.
alter table pods add column first_started_at timestamptz(3);

-- A bundle that stays sealed here once it is acknowledged: its upstream tells when it starts the machine again.
alter table machine_tokens add column kept boolean not null default false;
-- The start of the machine after which it may be fetched again; null: its first.
alter table machine_tokens add column opened_for timestamptz(3);
-- How many restarts opened it again since reopened_since.
alter table machine_tokens add column reopened integer not null default 0;
-- When the day began in which reopened counts; null: no restart yet.
alter table machine_tokens add column reopened_since timestamptz(3);
-- A row for each machine that runs: the constraint is checked at once.
alter table machine_tokens
  drop constraint machine_tokens_sealed,
  add constraint machine_tokens_sealed
    check ((purpose = 'bundle' and (kept or acknowledged_at is null)) = (sealed is not null));
grant select (kept, opened_for, reopened, reopened_since) on machine_tokens to gpu_rental_ops;

-- Hands out the sealed bundle of a token, and tells its renter. Null for every token that opens nothing now: an unknown
-- one, one of another purpose, an acknowledged one, one of a machine that is given up, one that was used up, and one whose
-- rental is not yet on record. A restart that the upstream's list has shown opens a kept one anew, ten times a day.
create or replace function machine_bundle(of_token bytea)
 returns bytea
 language plpgsql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  declare
    token machine_tokens;
    rental rentals;
    restarted_at timestamptz;
  begin
    select * into token from machine_tokens where token_sha256 = of_token and purpose = 'bundle' for update;
    if not found or token.sealed is null or not machine_may_call(token.attempt_id) then
      return null;
    end if;
    select r.* into rental from allocation_attempts a join rentals r on r.id = a.rental_id where a.id = token.attempt_id;
    if not found then
      return null;
    end if;
    if token.kept then
      select p.started_at into restarted_at
        from allocation_attempts a join pods p on p.provider_code = a.provider_code and p.pod_id = a.pod_id
       where a.id = token.attempt_id
         -- Lists round a start, and tell the first one late: neither is a restart.
         and p.started_at >= greatest(p.first_started_at, token.opened_for) + interval '30 seconds'
         and p.started_at >= coalesce(token.acknowledged_at, '-infinity') + interval '60 seconds'
         -- Who did not ask by then is not its machine, which asks as soon as it starts.
         and p.started_at > clock_ms() - interval '60 minutes';
      if token.reopened_since <= clock_ms() - interval '1 day' then
        token.reopened := 0;
      end if;
      if restarted_at is not null and token.reopened < 10 then
        update machine_tokens
           set fetches = 0, first_fetched_at = null, acknowledged_at = null, opened_for = restarted_at,
               reopened = token.reopened + 1,
               reopened_since = case token.reopened when 0 then clock_ms() else reopened_since end
         where token_sha256 = of_token returning * into token;
      end if;
    end if;
    if token.acknowledged_at is not null or token.fetches >= 5
       or token.first_fetched_at < clock_ms() - interval '60 minutes' then
      return null;
    end if;
    update machine_tokens set fetches = fetches + 1, first_fetched_at = coalesce(first_fetched_at, clock_ms())
     where token_sha256 = of_token;
    insert into event_outbox (user_id, type, entity_id, data)
    values (rental.user_id, 'rental.script_fetched', rental.id,
            jsonb_build_object('fetch', token.fetches + 1, 'afterRestart', token.opened_for is not null));
    return token.sealed;
  end $function$;

-- Ends the token of a bundle that its machine has whole, until a restart, and wipes what is not kept for one. Returns
-- whether it did.
create or replace function machine_acknowledge(of_token bytea)
 returns boolean
 language plpgsql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  begin
    update machine_tokens set acknowledged_at = clock_ms(), sealed = case when kept then sealed end
     where token_sha256 = of_token and purpose = 'bundle' and acknowledged_at is null and fetches > 0
       and machine_may_call(attempt_id);
    return found;
  end $function$;
