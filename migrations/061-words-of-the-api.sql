-- Whoever has the API's login is any user, and nothing more (decision 150, "Words of the API").

-- When a stop was asked for is the database's word: a bill ends there.
revoke insert on stop_requests from gpu_rental_api, gpu_rental_ops;
grant insert (rental_no, requested_by, reason) on stop_requests to gpu_rental_api, gpu_rental_ops;

create function refuse_to_the_api() returns trigger language plpgsql as $$
begin
  -- The owner of the schema may belong to none of the roles, or to all of them.
  if pg_has_role(current_user, 'gpu_rental_api', 'usage') and not pg_has_role(current_user, 'gpu_rental_worker', 'usage') then
    raise exception 'the API may not write this into %', tg_table_name using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;

-- An operator's stop counts against nobody.
create trigger stop_requests_of_operators before insert on stop_requests
  for each row when (new.requested_by = 'operator') execute function refuse_to_the_api();

-- The cards of a customer pay for one user: another customer would be another's cards.
create trigger users_customer_kept before update of processor_customer_id on users
  for each row when (old.processor_customer_id is not null
                     and new.processor_customer_id is distinct from old.processor_customer_id)
  execute function refuse_to_the_api();
