-- What a look at a restored database found (decision 67, "Restored databases"): a lost hour of a large fleet is more than one
-- answer of an activity may hold, so its rows stand here, and the run's id and counts go through Temporal.
create table restore_items (
  run_id text not null,
  kind text not null,
  id text not null,
  item jsonb not null,
  listed_at timestamptz(3) not null default clock_ms(),
  done_at timestamptz(3),
  primary key (run_id, kind, id),
  constraint restore_items_kind check (kind in ('ended', 'limit', 'without_run', 'lost', 'pod', 'payment'))
);
create index restore_items_by_age on restore_items (listed_at);

grant select, insert, update, delete on restore_items to gpu_rental_worker;
grant select on restore_items to gpu_rental_ops;
