-- Whoever signs roots (decision 140, "Proof of the ledger") has a role of its own: a process that can sign, and do nothing
-- else, may run where nobody of the service can write. Operators read roots, and sign none.
do $$
  begin
    begin
      if not exists (select 1 from pg_roles where rolname = 'gpu_rental_signer') then
        create role gpu_rental_signer nologin;
      end if;
    exception
      when duplicate_object or unique_violation then null;
      when insufficient_privilege then
        raise exception 'The role gpu_rental_signer is missing and this user may not make it. Run as a superuser: create role gpu_rental_signer nologin; or give this user createrole. Then migrate again.';
    end;
    -- As the baseline does for the other roles.
    for attempt in 1..20 loop
      begin
        grant gpu_rental_signer to current_user with inherit false, set true;
        exit;
      exception
        when insufficient_privilege then exit;
        when unique_violation or internal_error then perform pg_sleep(0.05);
      end;
    end loop;
  end $$;

grant select on ledger_roots to gpu_rental_signer;
grant update (line, endorsed, signature, signed_at) on ledger_roots to gpu_rental_signer;
revoke update (line, endorsed, signature, signed_at) on ledger_roots from gpu_rental_ops;
