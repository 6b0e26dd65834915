-- An order about a closed account keeps its words until it is decided, so that whoever decides can read them. Once it is,
-- the closing wakes and takes them out, however long the account has been closed. One that is decided just after its closing
-- looked for what to erase, and before that is over, makes it look again: it is over only where nothing moved late_until.
create function wake_closing_of_order()
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
create trigger operator_orders_wake after update on operator_orders
  for each row when (old.closed_at is null and new.closed_at is not null) execute function wake_closing_of_order();
