import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * Adds what a user was warned of (decision 101, "What events tell"), and the kind of the audit trail for rentals that
 * ended without their user's request (decision 59, "The audit trail").
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The instants at which machines end that their users were warned of: each once, and anew when it is moved.
    create table rental_warnings (
      rental_no bigint not null references rentals on delete restrict,
      warning text not null check (warning in ('auto_stop_near', 'spend_limit_near', 'upstream_end_near')),
      at timestamptz(3) not null,
      warned_at timestamptz(3) not null default clock_ms(),
      primary key (rental_no, warning, at)
    );
    create index rental_warnings_age on rental_warnings (at);

    -- One more kind, whichever there are by now.
    do $$ begin
      execute (
        select 'alter table audit_events drop constraint audit_events_kind_check, add constraint audit_events_kind_check check ('
               || pg_get_expr(conbin, conrelid) || ' or kind = ''rental_ended'')'
          from pg_constraint where conname = 'audit_events_kind_check' and conrelid = 'audit_events'::regclass);
    end $$;
  `);
  await grant(knex, {
    rental_warnings: { api: null, worker: 'select, insert, delete', ops: 'select' },
  });
}
