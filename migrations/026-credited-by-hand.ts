import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * Adds the operation that credited a parked payment: what the processor takes back of it later is owed (decision 80,
 * "Reversals without a credit").
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table parked_payments
      add credited_by text unique references operator_actions on delete restrict,
      add constraint parked_payments_credited check (credited_by is null or resolved_at is not null);
  `);
  await grant(knex, {
    parked_payments: { api: null, worker: null, ops: 'update (credited_by)' },
  });
}
