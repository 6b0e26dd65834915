-- Whoever signs roots (decision 140, "Proof of the ledger") has a role of its own: a process that can sign, and do nothing
-- else, may run where nobody of the service can write. Operators read roots, and sign none.
call make_process_role('gpu_rental_signer');

grant select on ledger_roots to gpu_rental_signer;
grant update (line, endorsed, signature, signed_at) on ledger_roots to gpu_rental_signer;
revoke update (line, endorsed, signature, signed_at) on ledger_roots from gpu_rental_ops;
