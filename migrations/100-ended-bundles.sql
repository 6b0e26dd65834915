-- A bundle ends with its hour, fetched or not (decision 173, "The bootstrap"): what nobody fetched opened as long as its
-- machine ran.

-- What is wiped at the end of its hour is gone like what was acknowledged. A row for each machine that runs: the constraint
-- is checked at once.
alter table machine_tokens
  drop constraint machine_tokens_sealed,
  add constraint machine_tokens_sealed
    check (case when sealed is null then not kept else purpose = 'bundle' and (kept or acknowledged_at is null) end);
grant update (sealed) on machine_tokens to gpu_rental_worker;

-- Until when a bundle may be fetched: an hour from its first fetch, and from when a list first shows its machine running,
-- which may take long; a day where none does. One that a restart opened counts from its fetch alone.
create function machine_bundle_ends_at(token machine_tokens)
 returns timestamptz
 language sql stable
as $function$
  select least(token.first_fetched_at + interval '60 minutes', case when token.opened_for is null then
    least(token.created_at + interval '1 day',
          (select min(p.active_at) + interval '60 minutes'
             from allocation_attempts a join pods p on p.provider_code = a.provider_code and p.tag = a.tag
            where a.id = token.attempt_id)) end)
$function$;

-- As 090 has it, but for when a bundle ends.
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
    if token.acknowledged_at is not null or token.fetches >= 5 or machine_bundle_ends_at(token) < clock_ms() then
      return null;
    end if;
    update machine_tokens set fetches = fetches + 1, first_fetched_at = coalesce(first_fetched_at, clock_ms())
     where token_sha256 = of_token;
    insert into event_outbox (user_id, type, entity_id, data)
    values (rental.user_id, 'rental.script_fetched', rental.id,
            jsonb_build_object('fetch', token.fetches + 1, 'afterRestart', token.opened_for is not null));
    return token.sealed;
  end $function$;
