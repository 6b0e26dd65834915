import type { Knex } from 'knex';
import { databaseRoles, grant } from './grants.js';

/** Adds API keys (decision 108, "API keys"), and names the key by which something was asked for. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table api_keys (
      id text primary key check (id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$'),
      user_id text not null references users on delete restrict,
      name text not null check (length(name) between 1 and 64),
      -- The key itself is shown once and never kept.
      token_hash bytea not null unique check (length(token_hash) = 32),
      -- Its last characters, by which its owner knows it in a list.
      hint text not null check (hint ~ '^[0-9A-Za-z]{4}$'),
      scopes text[] not null check (
        cardinality(scopes) between 1 and 3 and scopes <@ array['read', 'rentals', 'billing']),
      -- From where it may be used; null: from anywhere.
      allowed_cidrs cidr[] check (cardinality(allowed_cidrs) between 1 and 20),
      expires_at timestamptz(3) not null,
      -- What its rentals may cost in all; null: no cap. Spent and reserved are written under its wallet's lock alone.
      spend_cap_cents bigint,
      spent_cents bigint not null default 0 check (spent_cents >= 0),
      reserved_cents bigint not null default 0 check (reserved_cents >= 0),
      created_at timestamptz(3) not null default clock_ms(),
      last_used_at timestamptz(3),
      last_used_address text,
      revoked_at timestamptz(3),
      -- Its database was restored, and may have forgotten that it was revoked: its owner signs in first.
      suspended_at timestamptz(3),
      -- From when on it is of no use.
      ended_at timestamptz(3) not null generated always as (least(expires_at, revoked_at)) stored,
      constraint api_keys_cap check (spend_cap_cents is null or spent_cents + reserved_cents <= spend_cap_cents),
      constraint api_keys_expire check (
        expires_at > created_at and expires_at <= created_at + interval '366 days'),
      constraint api_keys_used check (last_used_address is null or last_used_at is not null)
    ) with (fillfactor = 80);
    create index api_keys_of_user on api_keys (user_id, id desc);
    create index api_keys_ended on api_keys (ended_at);

    -- The key that opened it; null: a session did.
    alter table rentals
      add column api_key_id text references api_keys on delete restrict,
      -- How many public keys of its own it was rented with.
      add column own_ssh_keys int not null default 0 check (own_ssh_keys between 0 and 10);
    create index rentals_of_key on rentals (api_key_id, no) where api_key_id is not null;

    alter table rental_requests
      add column api_key_id text check (api_key_id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$'),
      -- Public keys of this rental alone.
      add column ssh_public_keys text[] check (cardinality(ssh_public_keys) between 1 and 10);
    alter table topup_requests
      add column api_key_id text check (api_key_id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$');
    alter table rental_changes
      add column api_key_id text check (api_key_id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$');
    -- Keys go by age; that they did something stays.
    alter table audit_events
      add column api_key_id text check (api_key_id ~ '^key_[0-9A-HJKMNP-TV-Z]{26}$');

    -- A stream is of a session or of a key.
    alter table open_streams
      alter column token_hash drop not null,
      add column api_key_id text references api_keys on delete cascade,
      add constraint open_streams_holder check (num_nonnulls(token_hash, api_key_id) = 1);
    create index open_streams_key on open_streams (api_key_id) where api_key_id is not null;
  `);
  await addToView(knex);
  await addKinds(knex);
  await grant(knex, {
    api_keys: {
      api: `select, insert (id, user_id, name, token_hash, hint, scopes, allowed_cidrs, expires_at, spend_cap_cents),
        update (name, allowed_cidrs, spend_cap_cents, last_used_at, last_used_address, revoked_at, suspended_at)`,
      worker: 'select, update, delete',
      ops: 'select, update (revoked_at)',
    },
  });
  for (const table of ['open_streams', 'rental_changes']) {
    await knex.raw('grant insert (api_key_id) on ?? to ??', [table, databaseRoles.api]);
  }
}

/** The view shows a rental with its meter: what is new in rentals comes last. */
async function addToView(knex: Knex): Promise<void> {
  await knex.raw(`
    do $$ begin
      execute (
        select 'create or replace view rentals_now as select '
               || string_agg(case when column_name in ('hold_cents', 'charged_cents')
                                  then format('coalesce(m.%1$I, r.%1$I) as %1$I', column_name)
                                  else format('r.%I', column_name) end, ', ' order by ordinal_position)
               || ', r.api_key_id, r.own_ssh_keys from rentals r left join meters m on m.rental_no = r.no'
          from information_schema.columns
         where table_schema = current_schema() and table_name = 'rentals_now');
    end $$;
  `);
}

/** Adds kinds of notices and of audited actions to those that there are, whichever they are by now. */
async function addKinds(knex: Knex): Promise<void> {
  await knex.raw(`
    do $$ begin
      execute (
        select 'alter table audit_events drop constraint audit_events_kind_check, add constraint audit_events_kind_check check ('
               || pg_get_expr(conbin, conrelid)
               || ' or kind in (''api_key_created'', ''api_key_changed'', ''api_key_revoked''))'
          from pg_constraint where conname = 'audit_events_kind_check' and conrelid = 'audit_events'::regclass);
      execute (
        select 'alter table user_notices drop constraint user_notices_kind_check, add constraint user_notices_kind_check check ('
               || pg_get_expr(conbin, conrelid) || ' or kind = ''api_key_created'')'
          from pg_constraint where conname = 'user_notices_kind_check' and conrelid = 'user_notices'::regclass);
    end $$;
  `);
}
