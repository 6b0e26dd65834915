import type { Knex } from 'knex';
import { grant } from './grants.js';

/** Adds the number of requests that an upstream says we may send, and the balance of our account there. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- One row for each upstream that tells its quotas; it says how they stood in its last answer (decision 93).
    create table provider_quotas (
      provider_code text primary key check (provider_code ~ '^[a-z0-9-]{1,32}$'),
      -- Elements as QuotaWindow in adapters/providers/upstream/quotas.ts says; ends are counted from told_at.
      windows jsonb not null check (jsonb_typeof(windows) = 'array' and jsonb_array_length(windows) between 1 and 10),
      told_at timestamptz(3) not null default clock_ms(),
      -- The reads that were let through so far are paid for until then.
      next_read_at timestamptz(3) not null default clock_ms()
    );

    alter table providers
      -- May be below zero.
      add column balance_cents bigint,
      add column burn_cents_per_hour bigint check (burn_cents_per_hour >= 0),
      add column balance_read_at timestamptz(3),
      add constraint providers_balance_is_whole
        check (num_nonnulls(balance_cents, burn_cents_per_hour, balance_read_at) in (0, 3));
  `);
  await grant(knex, {
    provider_quotas: { api: null, worker: 'select, insert, update', ops: 'select' },
  });
}
