import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeTelemetryFilterString, NativeConnection, Runtime, type Worker } from '@temporalio/worker';
import { createActivities } from '../../activities/index.js';
import { startLongLived } from '../../activities/upkeep.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { openDatabase, type Database } from '../../adapters/postgres/database.js';
import { createShadeformProvider } from '../../adapters/providers/shadeform.js';
import { createStripeProcessor } from '../../adapters/processor/stripe.js';
import type { ApiSettings } from '../../api/settings.js';
import { webhookPath } from '../../api/webhook.js';
import { startLabProcessor, type LabProcessor } from '../../lab/processor/server.js';
import { startLabProvider, type LabProvider } from '../../lab/provider/start.js';
import { bundleWorkflows } from '../../worker/bundle.js';
import { createWorkers } from '../../worker/workers.js';
import { startApi, webhookSecret, type TestApi } from './api.js';
import { getTemporal } from './servers.js';

/** The whole service in this process: the API, its worker, and the lab as the outside world. */
export interface TestService {
  readonly api: TestApi;
  readonly provider: LabProvider;
  readonly processor: LabProcessor;
  startWorker(): Promise<void>;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly settings?: Partial<ApiSettings>;
  /** Without a worker at first: startWorker starts it. */
  readonly worker?: boolean;
}

const KEY = 'sk_test_service';

/** Starts it all on free ports. Call `stop` in an `after` hook: it ends every workflow as well. */
export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const folder = mkdtempSync(join(tmpdir(), 'service-test-'));
  const { address } = await getTemporal();
  const api = await startApi({
    temporalAddress: address,
    settings: { reachMs: 2_000, ...options.settings },
  });
  const provider = await startLabProvider({
    port: 0,
    dataDir: join(folder, 'gpu'),
    apiKey: KEY,
    bootMs: 100,
    deleteMs: 50,
  });
  const processor = await startLabProcessor({
    port: 0,
    dataDir: join(folder, 'pay'),
    secretKey: KEY,
    publishableKey: 'pk_test_service',
    webhook: { url: `${api.url}${webhookPath}`, secret: webhookSecret },
  });
  let worker: RunningWorker | undefined;
  const service: TestService = {
    api,
    provider,
    processor,
    async startWorker() {
      worker = await runWorker(api, provider, processor, address);
    },
    async stop() {
      await worker?.stop();
      await endWorkflows(api);
      await Promise.all([provider.close(), processor.close()]);
      await api.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  if (options.worker !== false) await service.startWorker();
  return service;
}

interface RunningWorker {
  stop(): Promise<void>;
}

async function runWorker(
  api: TestApi,
  provider: LabProvider,
  processor: LabProcessor,
  address: string,
): Promise<RunningWorker> {
  const openDb = openDatabase(databaseUrlOf(api.db), 4, 'test-open');
  const bundle = await prepareWorker();
  const connection = await NativeConnection.connect({ address });
  const deps: ActivityDeps = {
    db: api.db,
    openDb,
    temporal: api.deps.temporal.client,
    providers: new Map([
      ['lab', createShadeformProvider({ code: 'lab', url: provider.url, apiKey: KEY, deployment: 'test' })],
    ]),
    processor: createStripeProcessor({ secretKey: KEY, apiUrl: processor.url }),
    // Mails stay in the outbox, where tests read them.
    mail: { send: () => Promise.reject(new Error('no mail server in this test')), close: () => undefined },
    log: api.deps.log,
    settings: {
      deployment: 'test',
      shards: 1,
      allowPrivatePods: true,
      checkoutUrls: { success: 'http://127.0.0.1/success', cancel: 'http://127.0.0.1/cancel' },
    },
  };
  const workers = await createWorkers({
    connection,
    namespace: 'default',
    bundle,
    activities: createActivities(deps),
  });
  const runs = workers.map((worker) => worker.run());
  await startLongLived(deps);
  return { stop: () => stopWorkers(workers, runs, connection, openDb) };
}

async function stopWorkers(
  workers: readonly Worker[],
  runs: readonly Promise<void>[],
  connection: NativeConnection,
  openDb: Database,
): Promise<void> {
  for (const worker of workers) worker.shutdown();
  await Promise.allSettled(runs);
  await connection.close();
  await openDb.destroy();
}

/** The server is shared by all test files: what runs on would meet the next one's worker. */
async function endWorkflows(api: TestApi): Promise<void> {
  const { workflow } = api.deps.temporal.client;
  for await (const { workflowId } of workflow.list({ query: "ExecutionStatus = 'Running'" })) {
    await workflow
      .getHandle(workflowId)
      .terminate('the test is over')
      .catch(() => undefined);
  }
}

function databaseUrlOf(db: Database): string {
  return (db.client.config.connection as { connectionString: string }).connectionString;
}

let prepared: ReturnType<typeof bundleWorkflows> | undefined;

/** Once per run: bundling takes a second or more, and there is one runtime per process. */
function prepareWorker(): ReturnType<typeof bundleWorkflows> {
  if (prepared) return prepared;
  // What matters of a worker's log is what the tests look at.
  const ignore = (): void => undefined;
  Runtime.install({
    logger: { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore },
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) } },
  });
  prepared = bundleWorkflows();
  return prepared;
}
