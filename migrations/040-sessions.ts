import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * Lets users see where they are signed in and end it, and lets a session show anew whose it is (decision 110,
 * "Sessions and fresh proof").
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table sessions
      -- What may be shown. The default serves an API of the release before, which knows of no id.
      add column id text not null unique
        default 'ses_' || upper(substr(replace(gen_random_uuid()::text, '-', ''), 1, 26))
        check (id ~ '^ses_[0-9A-HJKMNP-TV-Z]{26}$'),
      -- From what and from where it was last used; null where no request has told.
      add column user_agent text check (length(user_agent) between 1 and 512),
      add column client_address text check (length(client_address) between 1 and 64),
      -- When its user last showed who they are; null where an account elsewhere has not told when.
      add column proved_at timestamptz(3);
    update sessions set proved_at = created_at;
    alter table sessions alter column proved_at set default clock_ms();
    create index sessions_of_user on sessions (user_id, created_at desc, id desc);
    drop index sessions_user;

    -- The token of a session changes when its user shows anew who they are. Its streams were opened by the former one:
    -- the process that holds them ends them.
    alter table open_streams
      add column outdated boolean not null default false,
      drop constraint open_streams_token_hash_fkey,
      add constraint open_streams_token_hash_fkey
        foreign key (token_hash) references sessions on update cascade on delete cascade;

    -- Codes that a session asks for, to show anew whose it is. Each is good for its own session alone. A code outlives
    -- its session here, because its mail counts.
    create table proof_codes (
      id bigint generated always as identity primary key,
      user_id text not null references users on delete cascade,
      session_id text not null,
      code_hash bytea not null check (length(code_hash) = 32),
      tries int not null default 0 check (tries between 0 and 5),
      created_at timestamptz(3) not null default clock_ms(),
      expires_at timestamptz(3) not null,
      used_at timestamptz(3)
    );
    create index proof_codes_user on proof_codes (user_id, created_at desc);
    create index proof_codes_session on proof_codes (session_id, created_at desc);
    create index proof_codes_age on proof_codes (created_at);

    -- From where they were used is cut; some keys stay for good.
    create index api_keys_addresses on api_keys (ended_at) where last_used_address is not null;

    -- One more kind, whichever there are by now.
    do $$ begin
      execute (
        select 'alter table audit_events drop constraint audit_events_kind_check, add constraint audit_events_kind_check check ('
               || pg_get_expr(conbin, conrelid) || ' or kind = ''proof_refreshed'')'
          from pg_constraint where conname = 'audit_events_kind_check' and conrelid = 'audit_events'::regclass);
    end $$;
  `);
  await grant(knex, {
    proof_codes: { api: 'select, insert, update (tries, used_at)', worker: 'select, delete', ops: null },
    open_streams: { api: 'update (outdated)', worker: null, ops: null },
  });
}
