import type { Knex } from 'knex';
import { grant } from './grants.js';

/** Adds what the operators' figures are read by, so that they cost the same with a million rows. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create index wallets_blocked on wallets (metering_blocked_at) where metering_blocked_at is not null;
    create index rentals_provisioned on rentals (running_at) where running_at is not null;
    create index rentals_failed on rentals (settled_at) where status = 'failed';
    create index rentals_refunded on rentals (settled_at) where refunded_cents > 0;
    create index allocation_attempts_age on allocation_attempts (created_at);
    create index pods_gone on pods (gone_at);
    create index processor_events_age on processor_events (received_at);
    create index parked_payments_unresolved on parked_payments (parked_at) where resolved_at is null;
    create index intents_undelivered on intents (created_at) where acknowledged_at is null and delivered_at is null;
  `);
  // /readyz reads whether the API knows the schema.
  await grant(knex, { knex_migrations: { api: 'select', worker: null, ops: null } });
  // The worker sees how long the transactions of the others have been open.
  await knex.raw(`
    do $$ begin
      if not pg_has_role('gpu_rental_worker', 'pg_read_all_stats', 'member') then
        grant pg_read_all_stats to gpu_rental_worker;
      end if;
    exception
      -- Another database of this cluster is doing it at this moment.
      when internal_error or unique_violation then null;
      when insufficient_privilege then
        raise notice 'Run as a superuser, or the ages of open transactions are not all seen: grant pg_read_all_stats to gpu_rental_worker;';
    end $$`);
}
