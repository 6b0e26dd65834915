import type { FigureGroup, Sample } from '../../metrics/figures.js';
import type { Transaction } from '../database.js';
import { runwaySeconds } from '../../../domain/metering/runway.js';
import { isOut, type OutReason } from '../catalog/provider-health.js';

/** So many names of GPUs are told of each upstream, and so much of each name. */
const unknownGpus = { names: 20, chars: 60 };

const reasons: readonly OutReason[] = ['failing', 'failing_creates', 'refused', 'rate_limited', 'no_funds'];

/**
 * The health of the upstreams, and the cost of machines that nobody pays for (decision 55, "Machines nobody pays for").
 * @param configured the upstreams that are enabled now: others keep their row, and nobody watches them
 */
export function upstreamFigures(configured: readonly string[]): FigureGroup {
  return {
    name: 'upstreams',
    metrics: {
      provider_out: {
        help: '1 while nothing of an upstream is for sale, by the reason of its open circuit, or “paused” by an operator.',
        labels: ['provider', 'reason'],
      },
      catalog_age_seconds: {
        help: 'Since the catalog of an upstream was read whole; +Inf: never.',
        labels: ['provider'],
      },
      pods_list_age_seconds: {
        help: 'Since the machines of an upstream were listed; +Inf: never.',
        labels: ['provider'],
      },
      leaking_pods: {
        help: 'Machines that are there and nobody pays for. ending: told to end; given up, unknown tag: orphans.',
        labels: ['provider', 'kind'],
      },
      oldest_leaking_pod_seconds: {
        help: 'Since when the oldest of them is unpaid; 0: none.',
        labels: ['provider'],
      },
      leaked_cents_last_day: {
        help: 'What unpaid machines cost that are there or went within the last day.',
        labels: ['provider', 'kind'],
      },
      held_pods: {
        help: 'Machines that a list misses and that are held, see decision 51.',
        labels: ['provider'],
      },
      provider_balance_cents: {
        help: 'What our account at an upstream held when it was read; absent where the upstream does not tell.',
        labels: ['provider'],
      },
      provider_burn_cents_per_hour: {
        help: 'What everything that runs in our account at an upstream cost an hour when it was read.',
        labels: ['provider'],
      },
      provider_balance_age_seconds: {
        help: 'Since the balance of our account at an upstream was read.',
        labels: ['provider'],
      },
      provider_runway_seconds: {
        help: 'How long the balance lasts from now at that cost; +Inf while nothing is running and something is left.',
        labels: ['provider'],
      },
      unknown_gpu_offers: {
        help: 'How often an offer of a GPU was skipped that no table knows, by its name at the upstream: the 20 most frequent of the last day.',
        labels: ['provider', 'gpu'],
      },
    },
    async read(trx) {
      const health = await readHealth(trx, configured);
      const balances = await readBalances(trx, configured);
      return [...health, ...balances, ...(await readLeaks(trx)), ...(await readUnknownGpus(trx, configured))];
    },
  };
}

interface Health {
  provider: string;
  reason: OutReason | null;
  isPaused: boolean;
  catalogS: number | null;
  podsS: number | null;
  held: number;
}

async function readHealth(trx: Transaction, configured: readonly string[]): Promise<Sample[]> {
  const { rows } = await trx.raw<{ rows: Health[] }>(
    `select c.code as provider, case when ${isOut('p', 'clock_ms()')} then p.out_reason end as reason,
            p.paused_at is not null as "isPaused",
            extract(epoch from now() - p.catalog_synced_at)::float8 as "catalogS",
            extract(epoch from now() - p.pods_listed_at)::float8 as "podsS",
            (select count(*) from pods d
              where d.provider_code = c.code and d.gone_at is null and d.held_since is not null) as held
       from unnest(?::text[]) c (code)
       left join providers p using (code)`,
    [[...configured]],
  );
  return rows.flatMap(({ provider, reason, isPaused, catalogS, podsS, held }) => [
    ...reasons.map((name) => outSample(provider, name, reason === name)),
    outSample(provider, 'paused', isPaused),
    { metric: 'catalog_age_seconds', labels: { provider }, value: ageOf(catalogS) },
    { metric: 'pods_list_age_seconds', labels: { provider }, value: ageOf(podsS) },
    { metric: 'held_pods', labels: { provider }, value: held },
  ]);
}

function outSample(provider: string, reason: OutReason | 'paused', isOutNow: boolean): Sample {
  return { metric: 'provider_out', labels: { provider, reason }, value: isOutNow ? 1 : 0 };
}

function ageOf(seconds: number | null): number {
  return seconds === null ? Infinity : Math.max(0, seconds);
}

/**
 * Only of upstreams that tell. A missing value raises no alarm, and a balance that is no longer read still runs down.
 */
async function readBalances(trx: Transaction, configured: readonly string[]): Promise<Sample[]> {
  const { rows } = await trx.raw<{
    rows: { provider: string; balanceCents: number; burnCents: number; ageS: number }[];
  }>(
    `select code as provider, balance_cents as "balanceCents", burn_cents_per_hour as "burnCents",
            greatest(0, extract(epoch from now() - balance_read_at))::float8 as "ageS"
       from providers where code = any (?::text[]) and balance_read_at is not null`,
    [[...configured]],
  );
  return rows.flatMap(({ provider, balanceCents, burnCents, ageS }) => [
    { metric: 'provider_balance_cents', labels: { provider }, value: balanceCents },
    { metric: 'provider_burn_cents_per_hour', labels: { provider }, value: burnCents },
    { metric: 'provider_balance_age_seconds', labels: { provider }, value: ageS },
    {
      metric: 'provider_runway_seconds',
      labels: { provider },
      value: runwaySeconds(balanceCents, burnCents) - ageS,
    },
  ]);
}

async function readUnknownGpus(trx: Transaction, configured: readonly string[]): Promise<Sample[]> {
  const { names, chars } = unknownGpus;
  const { rows } = await trx.raw<{ rows: { provider: string; gpu: string; times: number }[] }>(
    `select c.code as provider, o.gpu, o.times
       from unnest(:configured::text[]) c (code)
      cross join lateral (
        select left(subject, :chars::int) as gpu, sum(times)::bigint as times
          from provider_oddities
         where provider_code = c.code and kind = 'unknown_gpu' and last_seen_at > now() - interval '1 day'
         group by 1 order by 2 desc, 1 limit :names::int) o`,
    { configured: [...configured], names, chars },
  );
  return rows.map(({ provider, gpu, times }) => ({
    ...{ metric: 'unknown_gpu_offers', labels: { provider, gpu } },
    value: times,
  }));
}

async function readLeaks(trx: Transaction): Promise<Sample[]> {
  const { rows } = await trx.raw<{
    rows: { provider: string; kind: string; pods: number; oldest: number; cents: number }[];
  }>(
    `select p.code as provider, k.kind, count(l.pod_id) filter (where l.gone_at is null) as pods,
            coalesce(max(l.seconds) filter (where l.gone_at is null), 0) as oldest,
            coalesce(sum(l.cents), 0)::bigint as cents
       from providers p
      cross join (values ('ending'), ('given up'), ('unknown tag')) k (kind)
       left join pod_leaks l on l.provider_code = p.code and l.kind = k.kind
            and (l.gone_at is null or l.gone_at > now() - interval '1 day')
      group by p.code, k.kind`,
  );
  const oldest = new Map<string, number>();
  for (const row of rows) oldest.set(row.provider, Math.max(oldest.get(row.provider) ?? 0, row.oldest));
  return [
    ...rows.flatMap(({ provider, kind, pods, cents }) => [
      { metric: 'leaking_pods', labels: { provider, kind }, value: pods },
      { metric: 'leaked_cents_last_day', labels: { provider, kind }, value: cents },
    ]),
    ...[...oldest].map(([provider, value]) => ({
      metric: 'oldest_leaking_pod_seconds',
      labels: { provider },
      value,
    })),
  ];
}
