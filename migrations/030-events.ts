import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * The feed of events (decision 99, "One feed of events"). Transactions append to the outbox. The sequencer alone gives
 * the numbers. Nothing here refers to a user's row: a foreign key would lock it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- evt_ and a ULID: 48 bits of the time in milliseconds, 80 bits of chance, in base 32 by Crockford. Chance is taken
    -- from the bytes of a UUID that are random throughout.
    create function new_event_id() returns text language sql volatile parallel safe as $$
      select 'evt_' || string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substring(bits from no * 5 + 1 for 5)::int + 1, 1), '' order by no)
        from (
          select b'00' || epoch_ms(clock_ms())::bit(48)
                 || ('x' || encode(substring(random from 1 for 6) || substring(random from 10 for 4), 'hex'))::bit(80) as bits
            from uuid_send(gen_random_uuid()) random
        ) id, generate_series(0, 25) no
    $$;

    -- What transactions tell. Rows stay for a fraction of a second.
    create table event_outbox (
      no bigint generated always as identity primary key,
      id text not null default new_event_id(),
      user_id text not null,
      type text not null,
      entity_id text not null,
      data jsonb not null check (jsonb_typeof(data) = 'object'),
      at timestamptz(3) not null default clock_ms()
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
            autovacuum_vacuum_insert_threshold = -1);

    -- The last number of each user. Only the sequencer writes it.
    create table event_feeds (
      user_id text primary key,
      last_seq bigint not null check (last_seq > 0)
    ) with (fillfactor = 80);

    -- "no" ascends in the order of commits, because only one sequencer works at a time: who has read up to a number
    -- finds all that is new above it. "seq" is the number within the user's feed, from 1 on and without a gap.
    create table events (
      no bigint generated always as identity primary key,
      id text not null unique,
      user_id text not null,
      seq bigint not null check (seq > 0),
      type text not null,
      entity_id text not null,
      data jsonb not null,
      at timestamptz(3) not null,
      sequenced_at timestamptz(3) not null default clock_ms(),
      unique (user_id, seq)
    );
    create index events_sequenced on events (sequenced_at);
  `);
  await grant(knex, {
    event_outbox: {
      api: 'insert (user_id, type, entity_id, data)',
      worker: 'select, insert (user_id, type, entity_id, data), delete',
      ops: 'select, insert (user_id, type, entity_id, data)',
    },
    event_feeds: { api: 'select', worker: 'select, insert, update', ops: 'select' },
    events: { api: 'select', worker: 'select, insert, delete', ops: 'select' },
  });
}
