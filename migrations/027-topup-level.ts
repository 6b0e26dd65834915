import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * Checks the level of auto-topup whenever available falls, and when the settings change (decision 34, "Trigger of
 * auto-topup").
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create index rentals_provisioning on rentals (wallet_id) where status = 'provisioning'`);
  await grant(knex, {
    intents: { api: 'insert (kind, wallet_id)', worker: null, ops: null },
  });
}
