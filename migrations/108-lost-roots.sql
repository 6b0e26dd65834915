-- Roots that a restore lost (decision 140, "Proof of the ledger"), as the signer's file still has them. The list of roots
-- shows them too, so that each root leads back to the first one; no tree of theirs is left, so no proof stands under them.
create table lost_roots (
  number integer primary key check (number > 0),
  line text not null,
  endorsed text,
  signature text not null,
  read_back_at timestamptz(3) not null default clock_ms(),
  constraint lost_roots_line check (line ~ ('^root 1 ' || number || ' \d+ [\d-]{10}( [0-9a-f]{64}){3}\n$'))
);

create trigger lost_roots_append_only before update or delete or truncate on lost_roots
  for each statement execute function append_only();

grant select on lost_roots to gpu_rental_api, gpu_rental_worker, gpu_rental_ops, gpu_rental_signer;
grant insert (number, line, endorsed, signature) on lost_roots to gpu_rental_signer;
