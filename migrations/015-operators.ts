import type { Knex } from 'knex';

/** Adds what operators hold back by hand, and an index from a processor's object to the events about it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- While an upstream is paused nothing new is rented there; what runs there runs on. No answer of it ends a pause.
    alter table providers
      add column paused_at timestamptz(3),
      add column paused_by text,
      add column paused_reason text,
      add constraint providers_paused
        check ((paused_at is null) = (paused_by is null) and (paused_at is null) = (paused_reason is null));

    -- "A user says he paid": every event about one payment, session, refund or dispute.
    create index processor_events_object on processor_events ((object ->> 'id'));
  `);
}
