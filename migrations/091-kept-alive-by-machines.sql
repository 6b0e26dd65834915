-- A machine is kept alive by a command of its own (decision 186, "Kept alive from within").

-- Keeps a guarded rental alive until an instant, or as long as was asked for before, and tells its renter who asked: renter
-- or machine. The caller has the guard's row locked.
create function keep_rental_alive(of_rental bigint, until_at timestamptz, asked_by text)
 returns void
 language sql
as $function$
  update idle_guards set keep_alive_until = greatest(keep_alive_until, until_at),
         stops_at = case when stops_at >= until_at then stops_at end
   where rental_no = of_rental;
  insert into event_outbox (user_id, type, entity_id, data)
  select user_id, 'rental.kept_alive', id,
         jsonb_build_object('until', to_char(until_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                            'by', asked_by)
    from rentals where no = of_rental;
$function$;

-- Keeps the machine of a token of use alive for some minutes, a day at most. Its answer tells what became of it: kept,
-- unguarded, ending, too_many (sixty in a day, with those that its renter asks the API for) or unreadable; and until when it
-- is kept alive, in milliseconds since 1970. Null for every token that tells no use.
create function machine_keep_alive(of_token bytea, for_minutes integer)
 returns jsonb
 language plpgsql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  declare
    by_attempt bigint;
    rental rentals;
    now_ms bigint := epoch_ms(clock_ms());
    asked integer;
  begin
    select attempt_id into by_attempt from machine_tokens where token_sha256 = of_token and purpose = 'use';
    if not found or not machine_may_call(by_attempt) then
      return null;
    end if;
    if for_minutes is null or for_minutes not between 1 and 1440 then
      return jsonb_build_object('outcome', 'unreadable');
    end if;
    -- Whoever judges it, changes its guard or keeps it alive meanwhile waits, or is waited for.
    perform from allocation_attempts a join rentals r on r.id = a.rental_id join idle_guards g on g.rental_no = r.no
      where a.id = by_attempt for update of g;
    if not found then
      return jsonb_build_object('outcome', 'unguarded');
    end if;
    select r.* into rental from allocation_attempts a join rentals r on r.id = a.rental_id where a.id = by_attempt;
    if rental.settled_at is not null or exists (select 1 from stop_requests s where s.rental_no = rental.no)
       or (rental.status = 'running' and least(rental.auto_stop_at, rental.spend_limit_at) <= clock_ms()) then
      return jsonb_build_object('outcome', 'ending');
    end if;
    -- The API's own counter (api/rentals/keep-alive.ts).
    insert into rate_limits as l (key, points, expire)
    values ('api-keep-alives:' || rental.id, 1, now_ms + 86400000)
    on conflict (key) do update set
      points = case when l.expire <= now_ms then 1 else l.points + 1 end,
      expire = case when l.expire <= now_ms then excluded.expire else l.expire end
    returning l.points into asked;
    if asked > 60 then
      return jsonb_build_object('outcome', 'too_many');
    end if;
    perform keep_rental_alive(rental.no, from_epoch_ms(now_ms + for_minutes * 60000), 'machine');
    return jsonb_build_object('outcome', 'kept', 'untilMs', (
      select epoch_ms(keep_alive_until) from idle_guards where rental_no = rental.no));
  end $function$;
revoke execute on function machine_keep_alive from public;
grant execute on function machine_keep_alive to gpu_rental_machine;
