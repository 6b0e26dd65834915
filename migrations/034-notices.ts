import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * Adds what users are told without having asked (decision 103, "Notices by mail"): each event is noted in the transaction that
 * it tells, and one mail tells those that belong together. Mails get an HTML part, and a link that switches them off.
 */
export async function up(knex: Knex): Promise<void> {
  await mails(knex);
  await knex.raw(`
    create table user_notices (
      id bigint generated always as identity primary key,
      user_id text not null references users on delete restrict,
      kind text not null check (kind in ('rental_auto_stop', 'rental_spend_limit', 'rental_balance_exhausted',
        'rental_operator_stop', 'rental_lost', 'rental_failed', 'auto_topup_off', 'ssh_key_added', 'card_saved')),
      -- domain/causes.ts
      cause text not null unique,
      -- As domain/notices/notices.ts says it.
      facts jsonb not null check (jsonb_typeof(facts) = 'object'),
      noted_at timestamptz(3) not null default clock_ms(),
      -- Null until the mail that tells it is in the outbox, or its user did not want one.
      told_at timestamptz(3),
      is_mailed boolean,
      constraint user_notices_told check ((told_at is null) = (is_mailed is null))
    );
    create index user_notices_untold on user_notices (user_id, kind, noted_at) where told_at is null;
    create index user_notices_age on user_notices (told_at) where told_at is not null;

    -- What a user has switched off; what is about money or the account itself can't be.
    create table notice_settings (
      user_id text not null references users on delete cascade,
      kind text not null check (kind in ('rental_auto_stop', 'rental_spend_limit', 'rental_operator_stop',
        'rental_lost', 'rental_failed')),
      switched_off_at timestamptz(3) not null default clock_ms(),
      primary key (user_id, kind)
    );
  `);
  await allow(knex, 'audit_events', 'kind', 'notices_changed');
  await allow(knex, 'installation_keys', 'name', 'unsubscribe_links');
  await knex('installation_keys').insert({ name: 'unsubscribe_links', key: randomBytes(32) });
  await grant(knex, {
    user_notices: {
      api: 'select (id, cause), insert (user_id, kind, cause, facts)',
      worker: 'select, insert, update (told_at, is_mailed), delete',
      ops: 'select (id, user_id, kind, cause, noted_at, told_at, is_mailed)',
    },
    notice_settings: { api: 'select, insert, delete', worker: 'select', ops: 'select' },
  });
}

async function mails(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table mail_outbox
      -- Null for mails of 0.1, which are text alone.
      add column html text,
      -- Switches mails of its kind off (RFC 8058); null for those that are always sent.
      add column unsubscribe_url text check (length(unsubscribe_url) between 1 and 2000);
    alter table operator_notices add column html text;

    -- A text that carries a code is wiped once it is sent: its HTML part carries it too, and a worker of 0.1 does not
    -- know of it.
    create function mail_outbox_wiped() returns trigger language plpgsql as $$
    begin
      new.html := null;
      return new;
    end $$;
    create trigger mail_outbox_wiped before update of body on mail_outbox
      for each row when (new.body is null) execute function mail_outbox_wiped();
  `);
}

/** Adds a value to those that a column may have, whatever the steps before have allowed. */
async function allow(knex: Knex, table: string, column: string, value: string): Promise<void> {
  await knex.raw(`
    do $$
    declare
      present text := (select pg_get_constraintdef(oid) from pg_constraint
                        where conrelid = '${table}'::regclass and conname = '${table}_${column}_check');
    begin
      if position('])' in present) = 0 then
        raise exception 'the rule of ${table}.${column} reads otherwise: %', present;
      end if;
      execute 'alter table ${table} drop constraint ${table}_${column}_check, add constraint ${table}_${column}_check '
        || replace(present, '])', ', ''${value}''::text])');
    end $$`);
}
