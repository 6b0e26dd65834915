import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * The streams that are open, over all API processes, so that each user has a bounded number of them (decision 100,
 * "Feed and stream"). A session that ends takes its streams along.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- An API process that holds streams, and when it last said that it lives.
    create table stream_hosts (
      id text primary key,
      seen_at timestamptz(3) not null default clock_ms()
    );
    create index stream_hosts_seen on stream_hosts (seen_at);

    -- "no" tells which is older.
    create table open_streams (
      no bigint generated always as identity primary key,
      id text not null unique,
      host_id text not null references stream_hosts on delete cascade,
      user_id text not null,
      token_hash bytea not null references sessions on delete cascade,
      opened_at timestamptz(3) not null default clock_ms(),
      -- Newer ones of its user have taken its place. The process that holds it ends it and removes the row.
      crowded_out boolean not null default false
    );
    create index open_streams_user on open_streams (user_id, no) where not crowded_out;
    create index open_streams_host on open_streams (host_id);
    create index open_streams_session on open_streams (token_hash);
  `);
  await grant(knex, {
    stream_hosts: {
      api: 'select, insert (id), update (seen_at), delete',
      worker: 'select, delete',
      ops: 'select',
    },
    open_streams: {
      api: 'select, insert (id, host_id, user_id, token_hash), update (crowded_out), delete',
      worker: 'select',
      ops: 'select',
    },
  });
}
