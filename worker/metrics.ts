import type { Logger } from 'pino';
import type { MailTransport } from '../adapters/mailer/smtp.js';
import { watchDependencies, type AskDependency } from '../adapters/metrics/dependencies.js';
import { exposeFigures } from '../adapters/metrics/figures.js';
import { startMetricsListener, type FindFaults } from '../adapters/metrics/listener.js';
import { countMails } from '../adapters/metrics/mails.js';
import { watchPools } from '../adapters/metrics/pools.js';
import { createRegistry } from '../adapters/metrics/registry.js';
import { createTickMetrics, type Tick } from '../adapters/metrics/ticks.js';
import type { Database } from '../adapters/postgres/database.js';
import { businessFigures } from '../adapters/postgres/figures/index.js';
import { joinTemporal } from './temporal-metrics.js';

export interface WorkerMetrics {
  readonly observeTick: (tick: Tick) => void;
  /** The mail transport that was given, counted. */
  readonly mail: MailTransport;
  close(): Promise<void>;
}

export interface WorkerMetricsOptions {
  readonly log: Logger;
  /** Port null: nothing listens. */
  readonly listen: { readonly host: string; readonly port: number | null };
  readonly pools: Readonly<Record<string, Database>>;
  /** What it asks again and again, by name. */
  readonly dependencies: Readonly<Record<string, AskDependency>>;
  readonly mail: MailTransport;
  /** Own connections for reading the figures, so that they are read even when all others are taken. */
  readonly metricsDb: Database;
  readonly providers: readonly string[];
  /** The address of the SDK's metrics; null: nowhere. */
  readonly sdkMetricsUrl: string | null;
  /** Finds out whether this process polls; served beside the metrics. */
  readonly findFaults: FindFaults;
}

/**
 * Serves all of a worker's metrics: itself, its pools, its ticks, Temporal's SDK, and the business as the database has
 * it. Each worker shows the same business figures: queries take the maximum over them.
 */
export async function startWorkerMetrics(options: WorkerMetricsOptions): Promise<WorkerMetrics> {
  const { log, listen, pools, metricsDb, providers, sdkMetricsUrl, findFaults } = options;
  const registry = createRegistry('worker');
  watchPools(registry, pools);
  const stopWatching = watchDependencies(registry, log, options.dependencies);
  const mail = countMails(registry, options.mail);
  const observeTick = createTickMetrics(registry);
  const { host, port } = listen;
  if (port === null || sdkMetricsUrl === null) {
    const close = (): Promise<void> => {
      stopWatching();
      return Promise.resolve();
    };
    return { observeTick, mail, close };
  }
  const refresh = exposeFigures(registry, businessFigures(providers), { db: metricsDb, log });
  const scrape = joinTemporal(registry, sdkMetricsUrl, refresh);
  const listener = await startMetricsListener({ host, port, scrape, findFaults, log });
  return {
    observeTick,
    mail,
    close() {
      stopWatching();
      return listener.close();
    },
  };
}
