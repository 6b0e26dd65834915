-- A key that may do more than before is a notice of its own kind (decision 103, "Notices by mail").
alter table user_notices drop constraint user_notices_kind_check, add constraint user_notices_kind_check
  check (kind in (
    'rental_auto_stop', 'rental_spend_limit', 'rental_idle_near', 'rental_idle', 'rental_balance_exhausted',
    'rental_operator_stop', 'rental_lost', 'rental_failed', 'auto_topup_off', 'ssh_key_added', 'card_saved',
    'api_key_created', 'api_key_widened', 'budget_reached', 'setup_acted', 'passkey_added', 'passkey_refused', 'statement'
  )) not valid;

-- Keeps a guarded rental alive until an instant, or as long as was asked for before, and tells its renter who asked (renter
-- or machine) and until when it is kept alive now: an earlier wish does not shorten it. The caller has the guard's row locked.
create or replace function keep_rental_alive(of_rental bigint, until_at timestamptz, asked_by text)
 returns void
 language sql
as $function$
  with kept as (
    update idle_guards set keep_alive_until = greatest(keep_alive_until, until_at),
           stops_at = case when stops_at >= until_at then stops_at end
     where rental_no = of_rental
    returning rental_no, keep_alive_until
  )
  insert into event_outbox (user_id, type, entity_id, data)
  select r.user_id, 'rental.kept_alive', r.id,
         jsonb_build_object(
           'until', to_char(kept.keep_alive_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           'by', asked_by)
    from kept join rentals r on r.no = kept.rental_no;
$function$;
