import { createLog } from '../adapters/log.js';
import { watchDependencies } from '../adapters/metrics/dependencies.js';
import { startMetricsListener } from '../adapters/metrics/listener.js';
import { watchPools } from '../adapters/metrics/pools.js';
import { createRegistry } from '../adapters/metrics/registry.js';
import { createRequestMetrics } from '../adapters/metrics/requests.js';
import { openDatabase, processName } from '../adapters/postgres/database.js';
import { databaseDeadlines } from '../adapters/postgres/deadlines.js';
import { stopWhenUnfit } from '../adapters/postgres/fitness.js';
import { createMachineDesk } from '../adapters/postgres/machines/machine-tokens.js';
import { defaultTimeouts, startServer, stopWithinMs } from '../api/server.js';
import { readListenerConfig } from '../config.js';
import { createListener, lookAtDatabase } from './app.js';
import { machineCallLimits } from '../domain/machines/calls.js';

const config = readListenerConfig();
const log = createLog({ ...config.log, service: 'listener' });
const { url, role, poolMax } = config.database;
const db = openDatabase(url, poolMax, processName('listener'), role, databaseDeadlines.api);
await stopWhenUnfit(db, log);
const registry = createRegistry('listener');
watchPools(registry, { listener: db });
const desk = createMachineDesk(db);
const stopWatching = watchDependencies(registry, log, { postgres: () => lookAtDatabase(desk) });
const app = createListener({
  desk,
  log,
  trustProxy: config.trustProxy,
  observeRequest: createRequestMetrics(registry),
});
const server = await startServer(app.callback(), config.listener, {
  ...defaultTimeouts,
  ...machineCallLimits.timeouts,
});
const { host, port } = config.metrics;
const scrape = (): Promise<string> => registry.metrics();
const metrics = port === null ? null : await startMetricsListener({ host, port, log, scrape });
log.info(config.listener, 'listener ready');

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    stopWatching();
    void stop(signal);
  });
}

async function stop(signal: string): Promise<void> {
  log.info({ signal }, 'listener stopping');
  const cut = await server.stop(stopWithinMs);
  if (cut > 0) log.warn({ cut }, 'requests did not end in time and were cut');
  await Promise.allSettled([metrics?.close(), db.destroy()]);
  log.info('listener stopped');
}
