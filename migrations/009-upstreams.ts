import type { Knex } from 'knex';

/** Adds the state of the upstreams, the facts of each pod, and the calls to them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The circuit breaker: while an upstream is out, nothing of it is for sale.
    alter table providers
      add column failures int not null default 0 check (failures >= 0),
      add column create_failures int not null default 0 check (create_failures >= 0),
      add column out_until timestamptz(3),
      add column out_reason text check (out_reason in ('failing', 'failing_creates', 'refused', 'rate_limited')),
      add column last_success_at timestamptz(3),
      -- An operator's word that the pods which its lists do not show are gone indeed, until this time.
      add column missing_accepted_until timestamptz(3),
      add constraint providers_out check ((out_until is null) = (out_reason is null));

    -- What was skipped in the upstreams' answers, for operators: names that no table knows, words of no meaning to us.
    create table provider_oddities (
      provider_code text not null references providers on delete restrict,
      kind text not null,
      subject text not null check (length(subject) <= 200),
      times bigint not null check (times > 0),
      first_seen_at timestamptz(3) not null default clock_ms(),
      last_seen_at timestamptz(3) not null default clock_ms(),
      primary key (provider_code, kind, subject)
    );

    -- Counters of rate-limiter-flexible, which several processes share.
    create table rate_limits (
      key varchar(255) primary key,
      points int not null default 0,
      expire bigint
    );

    alter table allocation_attempts
      -- When the upstream itself ends the pod, unless that is renewed: the dead man's switch.
      add column end_by timestamptz(3),
      -- When it was decided that its pod must end, or that there is none.
      add column given_up_at timestamptz(3),
      -- Operators were told that its pod does not end.
      add column slow_end_told_at timestamptz(3);

    alter table pods
      -- How the last probes of its SSH daemon went. Only a matter for people: the upstream's own word decides.
      add column probed_at timestamptz(3),
      add column silent_probes int not null default 0 check (silent_probes >= 0),
      -- Another daemon answers at its address: the upstream gave the address to somebody else, or the renter changed it.
      add column host_key_changed boolean not null default false,
      -- Not in the lists any more, together with many others, while its daemon answers with its own key.
      add column held_since timestamptz(3);

    -- Whether an upstream's lists are waited for is asked every 2 seconds.
    create index rentals_waiting on rentals (provider_code) where closed_at is null and status <> 'running';
    create index rentals_young on rentals (provider_code, running_at) where closed_at is null;

    -- Two live machines at one address: nobody knows whose daemon answers there.
    create index pods_address on pods (host, port) where gone_at is null;

    -- The machines that were not asked for the longest time.
    create index pods_to_probe on pods (provider_code, probed_at nulls first) where gone_at is null and status = 'active';

    -- What pods cost us that nobody pays for: from the end of the rental, or the giving up of the attempt, until the
    -- upstream showed them gone.
    create view pod_leaks as
      select p.provider_code, p.pod_id, p.tag, a.rental_id,
             case when a.id is null then 'unknown tag' when r.id is not null then 'ending' else 'given up' end as kind,
             l.since, p.gone_at, a.slow_end_told_at,
             greatest(0, extract(epoch from coalesce(p.gone_at, clock_ms()) - l.since))::bigint as seconds,
             (greatest(0, epoch_ms(coalesce(p.gone_at, clock_ms())) - epoch_ms(l.since))
               * coalesce(p.price_per_hour_cents, a.price_per_hour_cents, 0) / 3600000)::bigint as cents
        from pods p
        left join allocation_attempts a on a.tag = p.tag
        left join rentals r on r.id = a.rental_id and r.provider_code = p.provider_code and r.pod_id = p.pod_id
       cross join lateral (
         select case when a.id is null then p.first_seen_at
                     when r.id is not null then coalesce(r.ended_at, r.settled_at)
                     when a.given_up_at is not null then greatest(p.first_seen_at, a.given_up_at) end as since
       ) l
       where l.since is not null;
  `);
}
