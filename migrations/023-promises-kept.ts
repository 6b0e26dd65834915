import type { Knex } from 'knex';
import { grant } from './grants.js';

/**
 * Adds the instant at which a payment page was requested, so that a 503 can tell whether one may yet open (decision 82,
 * "Honest checkout failures"). Adds the machines that nobody was billed for, by user and hour for the limit on them,
 * and with their cost for operators (decision 83, "Cost of one caller").
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table topups add column page_asked_at timestamptz(3);

    -- Neither column changes with a tick.
    create index rentals_settled_of_user on rentals (user_id, settled_at) where settled_at is not null;

    -- What a machine cost until its rental ended, at the upstream's price; pod_leaks goes on from there.
    create view free_machines as
      select r.provider_code, r.id as rental_id, r.user_id, r.settled_at, u.kind, u.seconds,
             u.seconds * coalesce(p.price_per_hour_cents, r.price_per_hour_cents) / 3600 as cents
        from rentals r
        left join pods p on p.provider_code = r.provider_code and p.pod_id = r.pod_id
       cross join lateral (
         select case when r.running_at is not null and r.status = 'failed' then 'lost at once'
                     when r.running_at is not null then 'below a cent'
                     when r.status = 'failed' then 'never ready'
                     else 'stopped while provisioning' end as kind,
                case when r.pod_id is null then 0
                     else greatest(0, extract(epoch from coalesce(r.ended_at, r.settled_at) - r.started_at))::bigint
                end as seconds
       ) u
       where r.settled_at is not null and r.charged_cents = r.refunded_cents;
  `);
  await grant(knex, {
    free_machines: { api: null, worker: null, ops: 'select' },
  });
}
