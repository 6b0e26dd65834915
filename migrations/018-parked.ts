import type { Knex } from 'knex';
import { grant } from './grants.js';

/** Lets an operator say what became of a parked payment, by a command and not by SQL. */
export async function up(knex: Knex): Promise<void> {
  await grant(knex, {
    parked_payments: { api: null, worker: null, ops: 'update (resolved_at, resolution)' },
  });
}
