import type { Knex } from 'knex';
import { grant } from './grants.js';

/** Endpoints of users that events are delivered to, and what became of each try (decision 102, "Webhooks out"). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table webhooks (
      id text primary key check (id ~ '^wh_[0-9A-HJKMNP-TV-Z]{26}$'),
      user_id text not null references users on delete restrict,
      url text not null check (length(url) between 1 and 2048),
      -- The types of events that it gets; none: all but those that must be named.
      types text[] not null default '{}',
      description text not null default '' check (length(description) <= 200),
      -- pending: it has not answered its challenge yet.
      state text not null default 'pending' check (state in ('pending', 'enabled', 'switched_off', 'removed')),
      switched_off_why text check (switched_off_why in ('gone', 'no_success', 'challenge_unanswered')),
      created_at timestamptz(3) not null default clock_ms(),
      enabled_at timestamptz(3),
      switched_off_at timestamptz(3),
      removed_at timestamptz(3),
      -- Raised by each change that what is under way must not overwrite.
      round integer not null default 0,
      -- The last event of the user's feed that is done with: delivered, not wanted, or in the retry line.
      cursor_seq bigint not null check (cursor_seq >= 0),
      -- Tries of the next event, or of the challenge.
      tries integer not null default 0 check (tries >= 0),
      tried_since timestamptz(3),
      -- Tries in a row that failed, of whatever event.
      failures integer not null default 0 check (failures >= 0),
      failing_since timestamptz(3),
      last_success_at timestamptz(3),
      -- Before these, neither the next event is tried, nor one of the retry line.
      line_at timestamptz(3),
      retry_at timestamptz(3),
      -- When its workflow has something to do; null: nothing. When it was told so, or looks by its own timer.
      due_at timestamptz(3),
      told_at timestamptz(3),
      constraint webhooks_switched_off check ((state = 'switched_off') = (switched_off_at is not null)
                                              and (switched_off_at is null) = (switched_off_why is null)),
      constraint webhooks_removed check ((state = 'removed') = (removed_at is not null)),
      constraint webhooks_enabled check (state <> 'enabled' or enabled_at is not null),
      constraint webhooks_failing check ((failures = 0) = (failing_since is null)),
      constraint webhooks_tried check ((tries = 0) = (tried_since is null)),
      constraint webhooks_idle check (due_at is null or state in ('pending', 'enabled'))
    ) with (fillfactor = 80);
    create index webhooks_of_user on webhooks (user_id, created_at) where state <> 'removed';
    create index webhooks_due on webhooks (due_at) where due_at is not null;
    create index webhooks_removed_at on webhooks (removed_at);

    -- Sealed by the API, which can't open them; the newest has no end yet.
    create table webhook_secrets (
      webhook_id text not null references webhooks on delete cascade,
      no integer not null check (no > 0),
      sealed bytea not null check (length(sealed) between 60 and 400),
      made_at timestamptz(3) not null default clock_ms(),
      expires_at timestamptz(3),
      primary key (webhook_id, no)
    );
    create unique index webhook_secrets_newest on webhook_secrets (webhook_id) where expires_at is null;
    create index webhook_secrets_expired on webhook_secrets (expires_at);

    -- Events that hold up no later ones any more.
    create table webhook_retries (
      webhook_id text not null references webhooks on delete cascade,
      seq bigint not null,
      tries integer not null check (tries > 0),
      first_tried_at timestamptz(3) not null,
      next_try_at timestamptz(3) not null,
      primary key (webhook_id, seq)
    );
    create index webhook_retries_due on webhook_retries (webhook_id, next_try_at);

    -- Each try. The answer's body is not kept.
    create table webhook_deliveries (
      no bigint generated always as identity primary key,
      id text not null unique check (id ~ '^dlv_[0-9A-HJKMNP-TV-Z]{26}$'),
      webhook_id text not null references webhooks on delete cascade,
      -- Null for a challenge, which is no event.
      event_id text,
      seq bigint,
      type text not null,
      attempt integer not null check (attempt > 0),
      outcome text not null check (outcome in ('delivered', 'failed', 'given_up')),
      http_status integer check (http_status between 100 and 999),
      fault text check (length(fault) between 1 and 40),
      duration_ms integer not null check (duration_ms >= 0),
      at timestamptz(3) not null default clock_ms(),
      constraint webhook_deliveries_event check ((event_id is null) = (seq is null))
    );
    create index webhook_deliveries_newest on webhook_deliveries (webhook_id, no desc);
    create index webhook_deliveries_at on webhook_deliveries (at);

    -- The last event for which endpoints were looked up.
    create table webhook_feed (
      singleton boolean primary key default true check (singleton),
      last_no bigint not null
    );
    insert into webhook_feed (last_no) select coalesce(max(no), 0) from events;

    -- More kinds, whichever there are by now.
    do $$ begin
      execute (
        select 'alter table brakes drop constraint brakes_kind_check, add constraint brakes_kind_check check ('
               || pg_get_expr(conbin, conrelid) || ' or kind = ''webhooks'')'
          from pg_constraint where conname = 'brakes_kind_check' and conrelid = 'brakes'::regclass);
      execute (
        select 'alter table audit_events drop constraint audit_events_kind_check, add constraint audit_events_kind_check check ('
               || pg_get_expr(conbin, conrelid)
               || ' or kind in (''webhook_created'', ''webhook_changed'', ''webhook_removed'', ''webhook_switched_off''))'
          from pg_constraint where conname = 'audit_events_kind_check' and conrelid = 'audit_events'::regclass);
    end $$;
  `);
  await grant(knex, {
    webhooks: {
      api: 'select, insert (id, user_id, url, types, description, cursor_seq), update',
      worker: 'select, update, delete',
      ops: 'select',
    },
    webhook_secrets: {
      api: 'select (webhook_id, no, made_at, expires_at), insert (webhook_id, no, sealed), update (expires_at), delete',
      worker: 'select, delete',
      ops: 'select (webhook_id, no, made_at, expires_at)',
    },
    webhook_retries: { api: 'select, delete', worker: 'select, insert, update, delete', ops: 'select' },
    webhook_deliveries: { api: 'select', worker: 'select, insert, delete', ops: 'select' },
    webhook_feed: { api: null, worker: 'select, update', ops: 'select' },
  });
}
