import type { Knex } from 'knex';
import { grant } from './grants.js';

/** An operator says what became of a payment that was put aside, by a command and not by SQL. */
export async function up(knex: Knex): Promise<void> {
  await grant(knex, {
    parked_payments: { api: null, worker: null, ops: 'update (resolved_at, resolution)' },
  });
}
