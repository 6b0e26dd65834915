import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { NativeConnection } from '@temporalio/worker';
import { createActivities } from '../activities/index.js';
import { prepareClosedAccounts } from '../activities/closing/close-again.js';
import { compareWatermarks } from '../activities/ask-first.js';
import { startLongLived } from '../activities/upkeep/long-lived.js';
import type { ActivityDeps } from '../activities/deps.js';
import { createSmtpTransport } from '../adapters/mailer/smtp.js';
import { createLog, logOfPart } from '../adapters/log.js';
import { openDatabase, processName } from '../adapters/postgres/database.js';
import { databaseDeadlines } from '../adapters/postgres/deadlines.js';
import { startWitness } from '../adapters/postgres/restore/witness.js';
import { stopWhenUnfit } from '../adapters/postgres/fitness.js';
import { askForChanges } from '../adapters/postgres/schema.js';
import { createOddityBook } from '../adapters/providers/upstream/oddity-book.js';
import { connectTemporal } from '../adapters/temporal/client.js';
import { connectionTo, connectOrSay } from '../adapters/temporal/place.js';
import { listRunsOf01, refusalOfRunsOf01 } from '../adapters/temporal/runs-of-01.js';
import { pollersAt } from '../adapters/temporal/pollers.js';
import { createProber } from '../adapters/providers/ssh/prober.js';
import { ownProcessor } from '../adapters/own-processor.js';
import { logCalls } from '../adapters/tracing/calls.js';
import { traceWhenAsked } from '../adapters/tracing/start.js';
import { readConfig } from '../config.js';
import { machineLimits } from '../domain/machines/limits.js';
import { createSecretOpener } from '../adapters/sealed-secrets.js';
import { createWebhookSender } from '../adapters/webhooks/sender.js';
import { activityFields } from './activity-log.js';
import { bundleWorkflows } from './bundle.js';
import { startWorkerMetrics } from './metrics.js';
import { createProviders } from './providers.js';
import { createReadiness } from './readiness.js';
import { ensureSchedules } from '../adapters/temporal/schedules.js';
import { installTemporal } from './temporal-metrics.js';
import { createWorkers } from './workers.js';

/** Each try takes a few short statements. */
const WEBHOOK_POOL = 5;

const config = readConfig();
const stopTracing = await traceWhenAsked(config.tracing, 'gpu-rental-worker');
const log = createLog({ ...config.log, service: 'worker', fields: activityFields });
logCalls((callee) => logOfPart(log, callee));
const sdkMetricsUrl = await installTemporal(logOfPart(log, 'temporal'), config.metrics.port !== null);

const { url, role, poolMax, openPoolMax, meterPoolMax } = config.database;
const db = openDatabase(url, poolMax, processName('worker'), role, databaseDeadlines.worker);
await stopWhenUnfit(db, log);
const openDb = openDatabase(url, openPoolMax, processName('worker-open'), role, databaseDeadlines.open);
const meterDb = openDatabase(url, meterPoolMax, processName('worker-meter'), role, databaseDeadlines.meter);
const webhookDb = openDatabase(
  url,
  WEBHOOK_POOL,
  processName('worker-webhooks'),
  role,
  databaseDeadlines.worker,
);
const metricsDb = openDatabase(url, 2, processName('worker-metrics'), role);
const temporalPlace = config.temporal();
const connection = await connectOrSay(temporalPlace, () =>
  NativeConnection.connect(connectionTo(temporalPlace)),
);
const temporal = await connectTemporal(temporalPlace);
// A restarted container has its earlier name and process number: the server must not take one process for the other.
const identity = `${process.pid}@${hostname()}-${randomBytes(3).toString('hex')}`;
const readiness = createReadiness({ identity, listPollers: pollersAt(temporal) });
const metrics = await startWorkerMetrics({
  log,
  sdkMetricsUrl,
  metricsDb,
  findFaults: () => readiness.findFaults(),
  listen: config.metrics,
  pools: {
    worker: db,
    'worker-open': openDb,
    'worker-meter': meterDb,
    'worker-webhooks': webhookDb,
    'worker-metrics': metricsDb,
  },
  providers: config.providers.map(({ code }) => code),
  dependencies: {
    postgres: () => askForChanges(metricsDb),
    temporal: () => temporal.connection.workflowService.getSystemInfo({}),
  },
  mail: createSmtpTransport(config.mail),
});
const oddities = createOddityBook();
const deps: ActivityDeps = {
  db,
  meterDb,
  openDb,
  webhookDb,
  temporal,
  providers: createProviders(config.providers, {
    ...{ deployment: config.deployment, db, oddities },
    machinesFetch: config.ownSoftware.machineUrl !== null,
  }),
  oddities,
  prober: createProber(machineLimits.pollMs / 2),
  processor: ownProcessor(db, log, config.processor),
  mail: metrics.mail,
  webhooks: {
    send: createWebhookSender(config.webhooks),
    openSecret: createSecretOpener(config.webhooks.privateKeys),
  },
  log,
  observeTick: metrics.observeTick,
  settings: {
    deployment: config.deployment,
    shards: config.meter.shards,
    orderSingleLimitCents: config.orderSingleLimitCents,
    freeMachines: config.freeMachines,
    ownSoftwareGraceMs: config.ownSoftware.graceMs,
    closedAccountsFile: config.closedAccountsFile,
    installationKey: config.ownSoftware.installationKey,
    machineUrl: config.ownSoftware.machineUrl,
    declinesPerPage: config.cardTries.declinesPerPage,
    allowPrivatePods: config.allowPrivatePods,
    operatorEmail: config.mail.operatorEmail,
    supportContact: config.supportContact,
    seller: config.seller,
    publicUrl: config.api.publicUrl,
    checkoutUrls: { success: config.processor.successUrl, cancel: config.processor.cancelUrl },
  },
};

const runsOf01 = await listRunsOf01(temporal.workflow, 20);
if (runsOf01.length > 0) {
  log.fatal(refusalOfRunsOf01(runsOf01));
  process.exit(1);
}
// This comes before any poll: nothing may act on a restored database (decision 67, "Restored databases").
const verdict = await compareWatermarks(deps);
// In a restored database nobody may seem closed: a file that is missing then is missed.
if (verdict === 'confirmed') await prepareClosedAccounts(deps);
const witness = startWitness({ db, url, part: 'worker', log, compare: () => compareWatermarks(deps) });
const workers = await createWorkers({
  connection,
  namespace: temporalPlace.namespace,
  bundle: await bundleWorkflows(),
  activities: createActivities(deps),
  log,
  identity,
});
await ensureSchedules(temporal);
await startLongLived(deps);
log.info('worker ready');
try {
  // A signal shuts all of them down: loops notice within the grace time, and their activities move to another worker.
  const runs = workers.map((worker) => worker.run());
  readiness.begin(workers);
  await Promise.all(runs);
} finally {
  deps.mail.close();
  await witness.stop();
  await metrics.close();
  await Promise.all([
    db.destroy(),
    openDb.destroy(),
    meterDb.destroy(),
    webhookDb.destroy(),
    metricsDb.destroy(),
    connection.close(),
    temporal.connection.close(),
    stopTracing(),
  ]);
  log.info('worker stopped');
}
