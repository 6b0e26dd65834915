import type { Knex } from 'knex';
import { grant } from './grants.js';

/** Adds the facts of an offer beyond its price, upstreams without money, and notices to operators. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table listings
      -- How long the upstream says that it may take to boot; null when it does not say.
      add column max_boot_ms int check (max_boot_ms > 0),
      -- What it can be started from; null for all that its upstream can start.
      add column template_ids text[];

    -- By when a machine of the attempt must answer, from its beginning (decision 76).
    alter table allocation_attempts add column deadline_ms int check (deadline_ms > 0);

    alter table providers
      drop constraint providers_out_reason_check,
      add constraint providers_out_reason_check
        check (out_reason in ('failing', 'failing_creates', 'refused', 'rate_limited', 'no_funds'));

    -- Written by whoever meets it, in its own transaction; logged and mailed by the next housekeeping.
    create table operator_notices (
      id bigint generated always as identity primary key,
      cause text not null unique check (length(cause) <= 200),
      subject text not null check (length(subject) <= 200),
      body text not null check (length(body) <= 4000),
      noted_at timestamptz(3) not null default clock_ms(),
      told_at timestamptz(3)
    );
    create index operator_notices_untold on operator_notices (id) where told_at is null;
    create index operator_notices_told on operator_notices (told_at) where told_at is not null;
  `);
  await grant(knex, {
    operator_notices: { api: null, worker: 'select, insert, update, delete', ops: 'select' },
  });
}
