import type { FigureGroup } from '../../metrics/figures.js';

/** The state of metering, from the rows of the ticks, whichever worker they run on. */
export const meteringFigures: FigureGroup = {
  name: 'metering',
  metrics: {
    last_tick_age_seconds: {
      help: 'Since the last tick of each shard; +Inf for one that never ticked.',
      labels: ['shard'],
    },
    blocked_wallets: { help: 'Wallets that can not be metered until somebody mends them.' },
    oldest_blocked_wallet_seconds: { help: 'Since when the one that is blocked for longest is; 0: none.' },
    intents_waiting: { help: 'Intents of transactions that were not delivered to their workflow.' },
    oldest_intent_seconds: { help: 'Age of the oldest of them; 0: none.' },
  },
  async read(trx) {
    const { rows: shards } = await trx.raw<{ rows: { shard: number; seconds: number | null }[] }>(
      `select g.shard, extract(epoch from clock_timestamp() - m.last_tick_at)::float8 as seconds
         from (select shards from meter_shards order by last_tick_at desc limit 1) n
        cross join lateral generate_series(0, n.shards - 1) g (shard)
         left join meter_shards m on m.shard = g.shard and m.shards = n.shards`,
    );
    const { rows } = await trx.raw<{
      rows: { blocked: number; blockedS: number; intents: number; intentS: number }[];
    }>(
      `select b.*, i.*
         from (select count(*) as blocked,
                      coalesce(extract(epoch from now() - min(metering_blocked_at)), 0)::float8 as "blockedS"
                 from wallets where metering_blocked_at is not null) b,
              (select count(*) as intents, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as "intentS"
                 from intents where acknowledged_at is null and delivered_at is null) i`,
    );
    const now = rows[0];
    return [
      ...shards.map(({ shard, seconds }) => ({
        metric: 'last_tick_age_seconds',
        labels: { shard: String(shard) },
        value: seconds === null ? Infinity : Math.max(0, seconds),
      })),
      { metric: 'blocked_wallets', value: now?.blocked ?? 0 },
      { metric: 'oldest_blocked_wallet_seconds', value: Math.max(0, now?.blockedS ?? 0) },
      { metric: 'intents_waiting', value: now?.intents ?? 0 },
      { metric: 'oldest_intent_seconds', value: Math.max(0, now?.intentS ?? 0) },
    ];
  },
};
