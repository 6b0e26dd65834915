import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * Adds the instants from which the progress of a rental is told, and what the catalog tells of upstreams: how reliable
 * they are, and what their offers cost before (decision 106, "Progress and reliability").
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table allocation_attempts
      -- When the SSH daemon of its machine was first seen to answer.
      add column answered_at timestamptz(3),
      -- Why it was given up: the upstream did not deliver, or we gave it up. Null where nobody said so.
      add column failed_by text check (failed_by in ('upstream', 'us'));
    create index allocation_attempts_undelivered on allocation_attempts (given_up_at) where failed_by = 'upstream';

    -- When a list first showed it active.
    alter table pods add column active_at timestamptz(3);

    -- Losses by the time at which they became known.
    create index lost_machines_settled on lost_machines (settled_at);

    -- What happened at an upstream with the machines of a family in one hour (UTC), counted from the rows above and
    -- counted again for some hours after it, because ends are dated back. An hour in which nothing happened has no row.
    create table reliability_hours (
      provider_code text not null,
      family text not null,
      hour timestamptz(3) not null check (date_trunc('hour', hour, 'UTC') = hour),
      -- Machines that were asked for: those that came up, and those that the upstream did not deliver.
      created int not null check (created >= 0),
      not_created int not null check (not_created >= 0),
      -- Of those that came up, in whole seconds, rounded up: until they ran, and until SSH answered.
      ready_seconds int[] not null check (cardinality(ready_seconds) = created),
      ssh_seconds int[] not null check (cardinality(ssh_seconds) = created),
      losses int not null check (losses >= 0),
      -- How long machines ran within the hour, all together.
      machine_ms bigint not null check (machine_ms >= 0),
      primary key (provider_code, family, hour)
    );
    create index reliability_hours_age on reliability_hours (hour);

    -- The sums of 30 days, which the catalog tells. A family without any row of an hour has none.
    create table reliability (
      provider_code text not null,
      family text not null,
      created int not null check (created >= 0),
      not_created int not null check (not_created >= 0),
      -- Null when none came up.
      ready_p50_seconds int,
      ready_p90_seconds int,
      ssh_p50_seconds int,
      ssh_p90_seconds int,
      losses int not null check (losses >= 0),
      machine_ms bigint not null check (machine_ms >= 0),
      counted_at timestamptz(3) not null default clock_ms(),
      primary key (provider_code, family),
      constraint reliability_times check (
        num_nonnulls(ready_p50_seconds, ready_p90_seconds, ssh_p50_seconds, ssh_p90_seconds)
          = case when created > 0 then 4 else 0 end
        and ready_p50_seconds <= ready_p90_seconds and ssh_p50_seconds <= ssh_p90_seconds)
    );

    -- The hours (UTC) in which an upstream's offers were read.
    create table catalog_hours (
      hour timestamptz(3) not null check (date_trunc('hour', hour, 'UTC') = hour),
      provider_code text not null,
      primary key (hour, provider_code)
    );

    -- What an upstream had on sale in an hour, by family and country, and for all countries together ('*'). What was
    -- not on sale at all in the hour has no row.
    create table offer_hours (
      family text not null,
      region_code text not null,
      hour timestamptz(3) not null check (date_trunc('hour', hour, 'UTC') = hour),
      provider_code text not null,
      lowest_price_per_hour_cents int not null check (lowest_price_per_hour_cents > 0),
      -- How many offers there were when it was last read in this hour.
      offers int not null check (offers >= 0),
      primary key (family, region_code, hour, provider_code)
    );
    create index offer_hours_age on offer_hours (hour, provider_code);
  `);
  const counted = { api: 'select', worker: 'select, insert, update, delete', ops: 'select' };
  await grant(knex, {
    reliability_hours: { ...counted, api: null },
    reliability: counted,
    catalog_hours: counted,
    offer_hours: counted,
  });
}
