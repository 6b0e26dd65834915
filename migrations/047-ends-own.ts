import type { Knex } from 'knex';
import { grant } from './grants.js';

/** Lets a key end only the machines that it opened (decision 133, "Keys that end their own"). Those of before end all. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table api_keys add column ends text not null default 'all'
      constraint api_keys_ends check (ends in ('all', 'own'))`);
  await grant(knex, { api_keys: { api: 'insert (ends)', worker: null, ops: null } });
}
