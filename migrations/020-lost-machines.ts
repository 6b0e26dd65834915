import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * Adds the instant at which a lost machine was last seen alive, by which its rental was settled (decision 77, "Bill of
 * lost machines"). The rows of pods serve their time and are removed; the facts that a price rests on stay.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table lost_machines (
      rental_no bigint primary key references rentals on delete restrict,
      last_alive_at timestamptz(3) not null,
      settled_at timestamptz(3) not null default clock_ms()
    );
  `);
  await grant(knex, {
    lost_machines: { api: null, worker: 'select, insert', ops: 'select' },
  });
}
