import { Counter, Histogram, type Registry } from 'prom-client';
import { metricPrefix } from './registry.js';

/** The result of one tick of a shard. */
export interface Tick {
  readonly shard: number;
  /** The delay of its beginning. */
  readonly lagMs: number;
  readonly durationMs: number;
  readonly entries: number;
}

/** Counts the ticks of the shards that this process meters. */
export function createTickMetrics(registry: Registry): (tick: Tick) => void {
  const options = {
    labelNames: ['shard'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  };
  const lag = new Histogram({
    name: `${metricPrefix}tick_lag_seconds`,
    help: 'How late each tick of a shard began.',
    ...options,
  });
  const duration = new Histogram({
    name: `${metricPrefix}tick_duration_seconds`,
    help: 'How long each tick of a shard took, delivery of what it left included.',
    ...options,
  });
  const entries = new Counter({
    name: `${metricPrefix}tick_entries_total`,
    help: 'Ledger entries that the ticks of a shard wrote.',
    labelNames: ['shard'],
    registers: [registry],
  });
  return ({ shard, lagMs, durationMs, entries: written }) => {
    lag.observe({ shard }, lagMs / 1_000);
    duration.observe({ shard }, durationMs / 1_000);
    entries.inc({ shard }, written);
  };
}
