import { Gauge, type Registry } from 'prom-client';
import type { Logger } from 'pino';
import { metricPrefix } from './registry.js';
import { within } from '../within.js';

/** Asks one dependency. It rejects where the dependency does not answer, with the reason. */
export type AskDependency = () => Promise<unknown>;

/** How often each dependency is asked, and how long it may take, in milliseconds. */
const EVERY_MS = 5_000;
const LIMIT_MS = 3_000;
/** One answer may be late because this process itself is busy, above all while it starts. */
const MISSES = 2;

/**
 * Asks what a process can't work without, again and again, and shows what it sees. So an alert of an outage rests on no
 * value that comes from what failed. A change is one line of the log.
 * @returns stops asking
 */
export function watchDependencies(
  registry: Registry,
  log: Logger,
  dependencies: Readonly<Record<string, AskDependency>>,
  everyMs = EVERY_MS,
): () => void {
  const gauge = new Gauge({
    name: `${metricPrefix}dependency_up`,
    help: '1 while this process gets an answer of this dependency, 0 while it gets none.',
    labelNames: ['dependency'],
    registers: [registry],
  });
  const timers = Object.entries(dependencies).map(([dependency, ask]) => {
    const seen = { isUp: true, sinceMs: performance.now(), isAsking: false, missed: 0 };
    const look = async (): Promise<void> => {
      if (seen.isAsking) return;
      seen.isAsking = true;
      const err = await within(LIMIT_MS, Promise.resolve().then(ask)).then(
        () => undefined,
        (error: unknown) => error,
      );
      seen.isAsking = false;
      seen.missed = err === undefined ? 0 : seen.missed + 1;
      if (seen.missed > 0 && seen.missed < MISSES) return;
      const isUp = seen.missed === 0;
      gauge.set({ dependency }, isUp ? 1 : 0);
      if (isUp === seen.isUp) return;
      const forS = Math.round((performance.now() - seen.sinceMs) / 1_000);
      Object.assign(seen, { isUp, sinceMs: performance.now() });
      if (isUp) log.info({ dependency, awayS: forS }, `${dependency} answers again`);
      else log.error({ dependency, err }, `${dependency} does not answer: see docs/operations/alerts.md`);
    };
    void look();
    return setInterval(() => void look(), everyMs).unref();
  });
  return () => timers.forEach((timer) => clearInterval(timer));
}
