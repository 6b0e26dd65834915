import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Runtime, type RuntimeOptions } from '@temporalio/worker';
import { Gauge } from 'prom-client';
import type { Logger } from 'pino';
import { metricPrefix, type Registry } from '../adapters/metrics/registry.js';
import type { Scrape } from '../adapters/metrics/listener.js';
import { temporalLogger } from './temporal-log.js';

/** The SDK takes any free port: in rare cases another program takes it first. */
const TRIES = 5;
const SDK_LIMIT_MS = 2_000;

/**
 * Sets up Temporal's SDK: its log goes into ours, and its metrics, which its native core serves by itself, to a free
 * port of loopback.
 * @param withMetrics false: it counts nothing
 * @returns the address of its metrics; null without
 * @throws Error when no port could be had
 */
export async function installTemporal(log: Logger, withMetrics: boolean): Promise<string | null> {
  const options = {
    logger: temporalLogger(log),
    shutdownSignals: ['SIGINT', 'SIGTERM'],
  } satisfies RuntimeOptions;
  const logging = { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } as const;
  if (!withMetrics) {
    Runtime.install({ ...options, telemetryOptions: { logging } });
    return null;
  }
  for (let tried = 1; ; tried += 1) {
    const bindAddress = `127.0.0.1:${await findFreePort()}`;
    try {
      const prometheus = {
        bindAddress,
        countersTotalSuffix: true,
        unitSuffix: true,
        useSecondsForDurations: true,
      };
      Runtime.install({ ...options, telemetryOptions: { logging, metrics: { prometheus } } });
      return `http://${bindAddress}/metrics`;
    } catch (error) {
      if (tried === TRIES) throw error;
    }
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/**
 * Joins the SDK's metrics (names beginning with temporal_) to our own, so that a worker is one target. When they can't
 * be read, ours are shown all the same, and a gauge says so.
 */
export function joinTemporal(registry: Registry, sdkUrl: string, refresh: () => Promise<void>): Scrape {
  const failed = new Gauge({
    name: `${metricPrefix}temporal_sdk_failed`,
    help: '1 when the metrics of Temporal’s SDK could not be read: they are missing here, not zero.',
    registers: [registry],
  });
  return async () => {
    const [theirs] = await Promise.all([readText(sdkUrl), refresh()]);
    failed.set(theirs === undefined ? 1 : 0);
    return `${await registry.metrics()}\n${theirs ?? ''}`;
  };
}

async function readText(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(SDK_LIMIT_MS) });
    return answer.ok ? await answer.text() : undefined;
  } catch {
    return undefined;
  }
}
