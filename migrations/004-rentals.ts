import type { Knex } from 'knex';

/** Makes the tables of rentals, of the calls to upstreams for them, and of what must be done about them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table rentals (
      no bigint generated always as identity primary key,
      id text not null unique check (id ~ '^rent_[0-9A-HJKMNP-TV-Z]{26}$'),
      wallet_id bigint not null references wallets on delete restrict,
      user_id text not null references users on delete restrict,
      status text not null
        check (status in ('provisioning', 'running', 'stopping', 'stopped', 'failed')),
      name text check (length(name) <= 64),
      family text not null,
      model text not null,
      gpu_count int not null check (gpu_count in (1, 2, 4, 8)),
      region text not null,
      region_code text not null,
      interconnect text not null,
      template_id text not null,
      ssh_key_ids text[] not null,
      listing_id text not null,
      provider_code text not null,
      tag text not null,
      pod_id text,
      host text,
      port int check (port between 1 and 65535),
      username text,
      host_key_fingerprint text,

      price_per_hour_cents int not null check (price_per_hour_cents between 1 and 10000000),
      max_spend_cents bigint check (max_spend_cents > 0),
      auto_stop_after_ms bigint check (auto_stop_after_ms between 1 and 2592000000),
      -- What is still held for the first hour; what was charged, given back, and could not be had. While the rental
      -- runs, its meter holds the first two: read rentals_now.
      hold_cents bigint not null check (hold_cents >= 0),
      charged_cents bigint not null default 0 check (charged_cents >= 0),
      refunded_cents bigint not null default 0,
      released_cents bigint not null default 0 check (released_cents >= 0),
      overage_cents bigint not null default 0 check (overage_cents >= 0),
      written_off_cents bigint not null default 0 check (written_off_cents >= 0),

      started_at timestamptz(3) not null,
      running_at timestamptz(3),
      auto_stop_at timestamptz(3),
      spend_limit_at timestamptz(3),
      -- The end of the billing; what the API calls stoppedAt.
      ended_at timestamptz(3),
      settled_at timestamptz(3),
      terminated_at timestamptz(3),
      -- Nothing more is owed to it: settled, and its pod is gone. Until then it has a workflow.
      closed_at timestamptz(3),
      stop_reason text check (stop_reason in
        ('user', 'auto_stop', 'spend_limit', 'balance_exhausted', 'pod_lost', 'operator')),
      error text,
      -- The wallet's newest entry when it was opened and when it was settled. All its entries lie between them: they
      -- are read without an index of their own, which each tick would have to write.
      opened_seq bigint not null default 0,
      settled_seq bigint,

      -- Whole milliseconds for the metering statement.
      running_ms bigint generated always as (epoch_ms(running_at)) stored,
      limit_ms bigint generated always as (epoch_ms(least(auto_stop_at, spend_limit_at))) stored,

      constraint rentals_refund check (refunded_cents between 0 and charged_cents),
      constraint rentals_running check (status <> 'running' or (running_at is not null and ended_at is null)),
      constraint rentals_ended check (status not in ('stopping', 'stopped') or ended_at is not null),
      constraint rentals_order check (ended_at >= running_at),
      constraint rentals_settled check (settled_at is null or (hold_cents = 0 and status in ('stopping', 'stopped', 'failed'))),
      constraint rentals_final check (status not in ('stopped', 'failed') or settled_at is not null),
      constraint rentals_failed check (status <> 'failed' or (error is not null and charged_cents = refunded_cents)),
      constraint rentals_closed check (closed_at is null or status in ('stopped', 'failed'))
    );
    create index rentals_running on rentals (wallet_id) where status = 'running';
    create index rentals_of_user on rentals (user_id, no desc);
    create index rentals_unclosed on rentals (no) where closed_at is null;
    create index rentals_pod on rentals (provider_code, pod_id) where closed_at is null;

    -- What metering writes while a rental runs, apart from the rental's long row: an update copies the whole row, and
    -- this one is a tenth as long (measured: a sixth of the cost). It exists exactly while the rental runs.
    create table meters (
      rental_no bigint primary key,
      wallet_id bigint not null,
      price_per_hour_cents int not null,
      hold_cents bigint not null check (hold_cents >= 0),
      charged_cents bigint not null check (charged_cents >= 0),
      running_ms bigint not null,
      limit_ms bigint,
      -- Set while the rental waits for an auto-topup because the money ended.
      starved_ms bigint
    ) with (fillfactor = 45);
    create index meters_wallet on meters (wallet_id);

    create function rentals_meter() returns trigger language plpgsql as $$
    begin
      if new.status = 'running' then
        insert into meters (rental_no, wallet_id, price_per_hour_cents, hold_cents, charged_cents, running_ms, limit_ms)
        values (new.no, new.wallet_id, new.price_per_hour_cents, new.hold_cents, new.charged_cents, new.running_ms,
                new.limit_ms)
        on conflict (rental_no) do update set
          price_per_hour_cents = excluded.price_per_hour_cents, running_ms = excluded.running_ms,
          limit_ms = excluded.limit_ms;
      else
        -- Whoever ends a rental writes what its meter showed into its row.
        delete from meters where rental_no = new.no;
      end if;
      return null;
    end $$;
    create trigger rentals_meter_begins after insert on rentals
      for each row when (new.status = 'running') execute function rentals_meter();
    create trigger rentals_meter_follows
      after update of status, running_at, auto_stop_at, spend_limit_at, price_per_hour_cents on rentals
      for each row when (new.status = 'running' or old.status = 'running') execute function rentals_meter();

    -- The rentals with what their meters show now.
    do $$ begin
      execute (
        select 'create view rentals_now as select ' || string_agg('r.' || quote_ident(column_name), ', ' order by ordinal_position)
               || ', coalesce(m.hold_cents, r.hold_cents) as hold_cents'
               || ', coalesce(m.charged_cents, r.charged_cents) as charged_cents'
               || ' from rentals r left join meters m on m.rental_no = r.no'
          from information_schema.columns
         where table_schema = current_schema() and table_name = 'rentals'
           and column_name not in ('hold_cents', 'charged_cents'));
    end $$;

    -- Asked for by the API without waiting for any lock that metering holds (decision 15). The first one wins.
    create table stop_requests (
      rental_no bigint primary key references rentals on delete restrict,
      requested_at timestamptz(3) not null default clock_ms(),
      requested_by text not null check (requested_by in ('user', 'operator')),
      reason text,
      -- False once the rental is settled: the metering statement looks at open ones only.
      open boolean not null default true,
      requested_ms bigint generated always as (epoch_ms(requested_at)) stored
    );
    create index stop_requests_open on stop_requests (rental_no) where open;

    -- Written on a connection of its own before each upstream call (decision 21): no foreign keys, which would wait
    -- for the lock that the writer's own transaction holds.
    create table allocation_attempts (
      id bigint generated always as identity primary key,
      rental_id text not null,
      attempt int not null check (attempt > 0),
      provider_code text not null,
      listing_id text not null,
      offer_id text not null,
      tag text not null unique,
      price_per_hour_cents int not null check (price_per_hour_cents > 0),
      -- open: may have bought a pod. adopted: its pod is the rental's. condemned: its pod, if any, must end.
      -- failed: bought nothing. gone: was condemned, and the upstream shows nothing of it.
      state text not null default 'open' check (state in ('open', 'adopted', 'condemned', 'failed', 'gone')),
      pod_id text,
      error text,
      created_at timestamptz(3) not null default clock_ms(),
      changed_at timestamptz(3) not null default clock_ms(),
      unique (rental_id, attempt)
    );
    create unique index allocation_attempts_adopted on allocation_attempts (rental_id) where state = 'adopted';
    create index allocation_attempts_unresolved on allocation_attempts (provider_code) where state in ('open', 'condemned');

    -- The upstream's last word on each of our pods, written by the watcher of the provider; one that must end before any
    -- list has shown it is noted by who ends it.
    create table pods (
      provider_code text not null references providers on delete restrict,
      pod_id text not null,
      tag text not null,
      status text not null check (status in ('pending', 'active', 'lost', 'ending')),
      upstream_status text not null,
      host text,
      port int,
      username text,
      price_per_hour_cents int,
      first_seen_at timestamptz(3) not null,
      -- The last list that showed it alive; kept up to date only when it stops being so.
      last_alive_at timestamptz(3),
      missing_lists int not null default 0,
      gone_at timestamptz(3),
      primary key (provider_code, pod_id)
    );
    create index pods_tag on pods (tag);

    -- What a transaction leaves for whoever must act: delivered at least once, kept until acknowledged.
    create table intents (
      id bigint generated always as identity primary key,
      kind text not null check (kind in ('end_rental', 'pod_lost', 'auto_topup', 'low_balance')),
      wallet_id bigint not null references wallets on delete restrict,
      rental_no bigint references rentals on delete restrict,
      created_at timestamptz(3) not null default clock_ms(),
      delivered_at timestamptz(3),
      acknowledged_at timestamptz(3)
    );
    create unique index intents_of_rental on intents (kind, rental_no)
      where acknowledged_at is null and rental_no is not null;
    create unique index intents_of_wallet on intents (kind, wallet_id)
      where acknowledged_at is null and rental_no is null;

    create table meter_shards (
      shard int primary key check (shard >= 0),
      shards int not null check (shards > shard),
      ticks bigint not null default 0,
      last_tick_at timestamptz(3) not null
    );
  `);
}
