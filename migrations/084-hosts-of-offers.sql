-- The next machine of a rental is never on the host of one that was bad (decision 179, "Next machine after bad").

-- The upstream's own name of the machine that the offer is on; null where it tells none.
alter table listings add column host text;
create index bad_machines_rental on bad_machines (rental_id);
