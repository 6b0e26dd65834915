import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * When a machine that was lost was last seen alive, as its rental was settled by it (decision 77, "Bill of lost
 * machines"): the rows of pods serve their time and go, and what a price rests on stays.
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
