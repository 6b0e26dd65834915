import type { FigureGroup, Sample } from '../../metrics/figures.js';
import type { Transaction } from '../database.js';

const quantiles = [0.5, 0.95, 1] as const;

/** Live rentals, what they cost and hold; read by the index of rentals to which something is still owed. */
export const rentalFigures: FigureGroup = {
  name: 'rentals',
  metrics: {
    rentals: {
      help: 'Rentals that are not closed, by upstream and status; ended ones wait for their machine to be gone.',
      labels: ['provider', 'status'],
    },
    burn_cents_per_hour: {
      help: 'What the running rentals cost their renters in an hour, by upstream.',
      labels: ['provider'],
    },
    held_cents: {
      help: 'What is held for the first hour of live rentals, by upstream.',
      labels: ['provider'],
    },
    oldest_stop_request_seconds: {
      help: 'Age of the oldest stop that was asked for and is not settled; 0: none.',
    },
  },
  async read(trx) {
    const { rows } = await trx.raw<{ rows: LiveRentals[] }>(
      `select p.code as provider, s.status, count(r.no) as rentals,
              coalesce(sum(r.hold_cents), 0)::bigint as "heldCents",
              coalesce(sum(r.price_per_hour_cents), 0)::bigint as "priceCents"
         from providers p
        cross join (values ('provisioning'), ('running'), ('stopping'), ('stopped'), ('failed')) s (status)
         left join rentals_now r on r.provider_code = p.code and r.status = s.status and r.closed_at is null
        group by p.code, s.status`,
    );
    const { rows: stops } = await trx.raw<{ rows: { seconds: number }[] }>(
      `select coalesce(extract(epoch from now() - min(requested_at)), 0)::float8 as seconds
         from stop_requests where open`,
    );
    return [
      ...rows.flatMap(samplesOf),
      ...heldByProvider(rows),
      { metric: 'oldest_stop_request_seconds', value: Math.max(0, stops[0]?.seconds ?? 0) },
    ];
  },
};

interface LiveRentals {
  provider: string;
  status: string;
  rentals: number;
  heldCents: number;
  priceCents: number;
}

function samplesOf({ provider, status, rentals, priceCents }: LiveRentals): Sample[] {
  const count: Sample = { metric: 'rentals', labels: { provider, status }, value: rentals };
  if (status !== 'running') return [count];
  return [count, { metric: 'burn_cents_per_hour', labels: { provider }, value: priceCents }];
}

function heldByProvider(rows: readonly LiveRentals[]): Sample[] {
  const held = new Map<string, number>();
  for (const { provider, heldCents } of rows) held.set(provider, (held.get(provider) ?? 0) + heldCents);
  return [...held].map(([provider, value]) => ({ metric: 'held_cents', labels: { provider }, value }));
}

/** How getting machines went within the last hour. It comes from the rows, so a restart forgets nothing. */
export const provisioningFigures: FigureGroup = {
  name: 'provisioning',
  metrics: {
    provisioning_seconds: {
      help: 'From create to a running machine, quantiles over the rentals that began to run within the last hour.',
      labels: ['provider', 'quantile'],
    },
    provisioned_last_hour: { help: 'Rentals that began to run within the last hour.', labels: ['provider'] },
    provisioning_failed_last_hour: {
      help: 'Rentals that failed within the last hour.',
      labels: ['provider'],
    },
    failovers_last_hour: {
      help: 'Rentals opened within the last hour that got their machine at a later attempt than the first.',
    },
    attempts_last_hour: {
      help: 'Attempts to get a machine within the last hour, by upstream and outcome.',
      labels: ['provider', 'state'],
    },
    refunds_last_hour: { help: 'Rentals settled within the last hour that were given money back.' },
    refunded_cents_last_hour: { help: 'What they were given back.' },
  },
  async read(trx) {
    return [...(await readProvisioned(trx)), ...(await readAttempts(trx)), ...(await readRefunds(trx))];
  },
};

async function readProvisioned(trx: Transaction): Promise<Sample[]> {
  const { rows } = await trx.raw<{
    rows: { provider: string; provisioned: number; failed: number; seconds: number[] | null }[];
  }>(
    `select p.code as provider, coalesce(r.provisioned, 0) as provisioned, coalesce(f.failed, 0) as failed, r.seconds
       from providers p
       left join (
         select provider_code, count(*) as provisioned,
                percentile_cont(array[${quantiles.join(', ')}])
                  within group (order by extract(epoch from running_at - started_at)::float8) as seconds
           from rentals where running_at > now() - interval '1 hour' group by provider_code) r
         on r.provider_code = p.code
       left join (
         select provider_code, count(*) as failed
           from rentals where status = 'failed' and settled_at > now() - interval '1 hour' group by provider_code) f
         on f.provider_code = p.code`,
  );
  return rows.flatMap(({ provider, provisioned, failed, seconds }) => [
    { metric: 'provisioned_last_hour', labels: { provider }, value: provisioned },
    { metric: 'provisioning_failed_last_hour', labels: { provider }, value: failed },
    ...(seconds ?? []).map((value, index) => ({
      metric: 'provisioning_seconds',
      labels: { provider, quantile: String(quantiles[index]) },
      value,
    })),
  ]);
}

async function readAttempts(trx: Transaction): Promise<Sample[]> {
  const { rows } = await trx.raw<{
    rows: { provider: string; state: string; attempts: number; failovers: number }[];
  }>(
    `select a.provider_code as provider, case when r.tag = a.tag then 'adopted' else a.state end as state,
            count(*) as attempts, count(*) filter (where r.tag = a.tag and a.attempt > 1) as failovers
       from allocation_attempts a
       left join rentals r on r.id = a.rental_id
      where a.created_at > now() - interval '1 hour'
      group by 1, 2`,
  );
  return [
    { metric: 'failovers_last_hour', value: rows.reduce((sum, { failovers }) => sum + failovers, 0) },
    ...rows.map(({ provider, state, attempts }) => ({
      metric: 'attempts_last_hour',
      labels: { provider, state },
      value: attempts,
    })),
  ];
}

async function readRefunds(trx: Transaction): Promise<Sample[]> {
  const { rows } = await trx.raw<{ rows: { refunds: number; cents: number }[] }>(
    `select count(*) as refunds, coalesce(sum(refunded_cents), 0)::bigint as cents
       from rentals where refunded_cents > 0 and settled_at > now() - interval '1 hour'`,
  );
  return [
    { metric: 'refunds_last_hour', value: rows[0]?.refunds ?? 0 },
    { metric: 'refunded_cents_last_hour', value: rows[0]?.cents ?? 0 },
  ];
}
