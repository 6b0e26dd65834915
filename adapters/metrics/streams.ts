import { Counter, Gauge, type Registry } from 'prom-client';
import { metricPrefix } from './registry.js';

/** What the streams of a process show: how many are open, and how long ago they were last looked at for news. */
interface Figures {
  readonly open: number;
  readonly lagMs: number;
}

/**
 * Shows the streams of events of an API process (decision 100, "Feed and stream").
 * @returns counts a stream that has ended, by its reason
 */
export function createStreamMetrics(registry: Registry, figures: () => Figures): (reason: string) => void {
  new Gauge({
    name: `${metricPrefix}event_streams`,
    help: 'Streams of events that are open.',
    registers: [registry],
    collect() {
      this.set(figures().open);
    },
  });
  new Gauge({
    name: `${metricPrefix}event_hub_lag_seconds`,
    help: 'Time since the last look for new events that succeeded; 0 while no stream is open.',
    registers: [registry],
    collect() {
      this.set(figures().lagMs / 1_000);
    },
  });
  const ended = new Counter({
    name: `${metricPrefix}event_streams_ended_total`,
    help: 'Streams of events that have ended, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  });
  return (reason) => ended.inc({ reason });
}
