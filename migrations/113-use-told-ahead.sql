-- As 086 has it, but for a report that lies more than a minute ahead: it came by a clock that ran ahead and was set back
-- since. It refused each report as one too many until the clock had come to it, and an idle guard was blind so long.
create or replace function machine_use(of_token bytea, told text)
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
     where u.uptime < says and (u.received_at <= excluded.received_at - interval '6 seconds'
                                or u.received_at > excluded.received_at + interval '1 minute');
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
