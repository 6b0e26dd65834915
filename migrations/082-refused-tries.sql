-- How often the processor refused a refund for now: each try after that has a key of its own, and the row stays the same.
alter table closing_refunds add column refused_tries integer not null default 0 check (refused_tries >= 0);
grant update (refused_tries) on closing_refunds to gpu_rental_worker;
