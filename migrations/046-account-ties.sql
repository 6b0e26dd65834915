-- Tells which accounts belong together, so that machines that nobody is billed for have one bound for all of them
-- (decision 83, "Cost of one caller"), and reads what an account paid in 30 days from an index alone.

-- What an account has in common with others: the fingerprints of cards that it paid by or saved, and the address from
-- which it was made.
create table account_ties (
  user_id text not null references users on delete restrict,
  kind text not null check (kind in ('card', 'address')),
  value text not null check (length(value) between 1 and 255),
  tied_at timestamptz(3) not null default clock_ms(),
  primary key (kind, value, user_id)
);
create index account_ties_of_user on account_ties (user_id);
create index account_ties_age on account_ties (tied_at);
grant select, insert on account_ties to gpu_rental_api;
grant select, insert, update (tied_at), delete on account_ties to gpu_rental_worker;
grant select on account_ties to gpu_rental_ops;

insert into account_ties (user_id, kind, value, tied_at)
  select user_id, 'card', fingerprint, max(saved_at) from saved_cards where fingerprint is not null group by 1, 3;

create index rentals_settled_sums on rentals (user_id, settled_at) include (charged_cents, refunded_cents)
  where settled_at is not null;
drop index rentals_settled_of_user;
alter index rentals_settled_sums rename to rentals_settled_of_user;
