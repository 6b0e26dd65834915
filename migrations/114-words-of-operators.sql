-- What operators write about a parked payment or a finding goes with its account (decision 183, "What closing erases"): their act
-- names the payment or the finding alone, and those name a user, or a rental, an invoice or a top-up of theirs.
create function users_of_ids(ids jsonb)
 returns text[]
 language sql stable
as $function$
  select array[ids ->> 'userId',
               (select user_id from rentals where id = ids ->> 'rentalId'),
               (select user_id from invoices where id = ids ->> 'invoiceId'),
               (select user_id from topups where id = ids ->> 'topupId')]
$function$;

create or replace function users_of_action(of_action text, request jsonb)
 returns text[]
 language sql stable
as $function$
  select users_of_ids(request)
      || (select users_of_ids(jsonb_build_object('userId', user_id, 'topupId', topup_id))
            from parked_payments where payment_id = request ->> 'paymentId')
      || (select users_of_ids(subject_ids) from reconcile_findings where id = (request ->> 'findingId')::bigint)
      || array(select user_id from audit_events where kind = 'changed_by_operator' and entity_id = of_action)
$function$;

create index operator_actions_payment on operator_actions ((request ->> 'paymentId'));
create index operator_actions_finding on operator_actions ((request ->> 'findingId'));

-- What is done about a closed account wakes its closing as a decided order does, whose order not every act has. Deferred: the
-- audit event that names the account comes after it.
create constraint trigger operator_actions_wake after insert on operator_actions
  deferrable initially deferred for each row execute function wake_closing_of_order();
