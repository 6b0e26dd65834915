-- An order may be decided just after its closing looked for what to erase, and before it is over: the closing looks again.
-- It is over only where this moved nothing since it looked.
create or replace function wake_closing_of_order()
 returns trigger
 language plpgsql
 security definer
 set search_path to 'pg_catalog', 'public', 'pg_temp'
as $function$
  begin
    update account_closings
       set state = 'kept', closed_at = null,
           late_until = greatest(late_until, clock_ms() + interval '1 minute')
     where state in ('kept', 'closed') and user_id = any (users_of_action(new.id, new.request));
    return null;
  end $function$;
