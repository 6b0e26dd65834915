import type { Logger } from 'pino';
import { createIdentityProviders } from '../adapters/identity/providers.js';
import { createLog, logOfPart } from '../adapters/log.js';
import { startMetricsListener } from '../adapters/metrics/listener.js';
import { watchDependencies } from '../adapters/metrics/dependencies.js';
import { watchPools } from '../adapters/metrics/pools.js';
import { createRegistry } from '../adapters/metrics/registry.js';
import { createRequestMetrics } from '../adapters/metrics/requests.js';
import { createStreamMetrics } from '../adapters/metrics/streams.js';
import { openDatabase, processName, type Database } from '../adapters/postgres/database.js';
import { databaseDeadlines } from '../adapters/postgres/deadlines.js';
import { startWitness } from '../adapters/postgres/restore/witness.js';
import { stopWhenUnfit } from '../adapters/postgres/fitness.js';
import { askForChanges } from '../adapters/postgres/schema.js';
import { ownProcessor } from '../adapters/own-processor.js';
import { createWebhookVerifier } from '../adapters/processor/webhook.js';
import { logCalls } from '../adapters/tracing/calls.js';
import { traceWhenAsked } from '../adapters/tracing/start.js';
import { readConfig } from '../config.js';
import { schemaSteps } from '../migrations/steps.js';
import { createApp } from './app.js';
import { findDashboardFolder } from './service/dashboard/files.js';
import { describedOnce } from './service/description.js';
import { createEventStreams, type EventStreams } from './events/service.js';
import { startServer, stopWithinMs, type ApiServer } from './server.js';
import { settingsOf } from './settings.js';
import { createTemporalGate, findRefusal, type TemporalGate } from '../adapters/temporal/gate.js';

/** The longest answer time of Temporal that counts as one. */
const DEPENDENCY_MS = 2_000;

const config = readConfig();
const stopTracing = await traceWhenAsked(config.tracing, 'gpu-rental-api');
/** What is read for all streams at once: new events, their states, and ended sessions. */
const HUB_CONNECTIONS = 3;
const log = createLog({ ...config.log, service: 'api' });
logCalls((callee) => logOfPart(log, callee));
const { url, poolMax, role } = config.database;
const db = openDatabase(url, poolMax, processName('api'), role, databaseDeadlines.api);
await stopWhenUnfit(db, log);
const temporalPlace = config.temporal();
const temporal = createTemporalGate(temporalPlace);
const { webhookSecrets } = config.processor;
const registry = createRegistry('api');
const hubDb = openDatabase(url, HUB_CONNECTIONS, processName('api-events'), role, databaseDeadlines.events);
watchPools(registry, { api: db, 'api-events': hubDb });
const streams: EventStreams = createEventStreams({
  ...{ db, hubDb, log: logOfPart(log, 'streams') },
  observeEnd: (reason) => countEnd(reason),
});
const countEnd = createStreamMetrics(registry, () => streams.figures());

const stopWatching = watchDependencies(registry, log, {
  postgres: () => askForChanges(hubDb),
  temporal: () =>
    temporal.within(DEPENDENCY_MS, () => temporal.client.connection.workflowService.getSystemInfo({})),
});

const app = createApp({
  db,
  temporal,
  log,
  streams,
  observeRequest: createRequestMetrics(registry),
  schemaSteps,
  settings: settingsOf(config),
  processor: ownProcessor(db, log, config.processor),
  verifyWebhook: webhookSecrets.length === 0 ? null : createWebhookVerifier({ secrets: webhookSecrets }),
  identityProviders: createIdentityProviders(config.identity),
  dashboardFolder: findDashboardFolder(),
});
describedOnce();
const witness = startWitness({ db, url, part: 'api', log });
const server = await startServer(app.callback(), config.api);
const { host: metricsHost, port: metricsPort } = config.metrics;
const metrics =
  metricsPort === null
    ? null
    : await startMetricsListener({
        host: metricsHost,
        port: metricsPort,
        log,
        scrape: () => registry.metrics(),
      });
log.info({ host: config.api.host, port: config.api.port }, 'api ready');
// It answers what needs no Temporal all the same, and connects by itself once it can.
void findRefusal(temporal, temporalPlace, DEPENDENCY_MS).then((refusal) => {
  if (refusal !== undefined) log.error(refusal);
});

let stopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    stopWatching();
    void stop(signal, { server, streams, pools: [db, hubDb], temporal, log });
  });
}

/** Lets the requests under way end, and closes what they worked with. */
async function stop(
  signal: string,
  held: {
    server: ApiServer;
    streams: EventStreams;
    pools: readonly Database[];
    temporal: TemporalGate;
    log: Logger;
  },
): Promise<void> {
  held.log.info({ signal }, 'api stopping');
  // Streams end first: none ends by itself, and each tells its client when to come back to another process.
  await held.streams.close();
  const cut = await held.server.stop(stopWithinMs);
  if (cut > 0) held.log.warn({ cut }, 'requests did not end in time and were cut');
  await witness.stop();
  await Promise.allSettled([
    metrics?.close(),
    ...held.pools.map((pool) => pool.destroy()),
    held.temporal.close(),
    stopTracing(),
  ]);
  held.log.info('api stopped');
}
