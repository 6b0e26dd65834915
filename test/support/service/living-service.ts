import { unnamedSeller } from '../../../domain/payments/receipt.js';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import Stripe from 'stripe';
import type { ActivityDeps } from '../../../activities/deps.js';
import { createSmtpTransport } from '../../../adapters/mailer/smtp.js';
import { openDatabase, type Database } from '../../../adapters/postgres/database.js';
import { databaseDeadlines } from '../../../adapters/postgres/deadlines.js';
import type { Processor } from '../../../adapters/processor/processor.js';
import { createStripeProcessor } from '../../../adapters/processor/stripe.js';
import { createSecretOpener } from '../../../adapters/sealed-secrets.js';
import { createWebhookSender, type SenderOptions } from '../../../adapters/webhooks/sender.js';
import { createOddityBook } from '../../../adapters/providers/upstream/oddity-book.js';
import { createProber } from '../../../adapters/providers/ssh/prober.js';
import type { Provider } from '../../../adapters/providers/provider.js';
import type { Dialect } from '../../../adapters/providers/offers/gpu-models.js';
import { createLambdaProvider } from '../../../adapters/providers/lambda/lambda.js';
import { createRunpodProvider } from '../../../adapters/providers/runpod/runpod.js';
import { createVastProvider } from '../../../adapters/providers/vast/vast.js';
import { createShadeformProvider } from '../../../adapters/providers/shadeform/shadeform.js';
import { connectTemporal } from '../../../adapters/temporal/client.js';
import type { ApiSettings } from '../../../api/settings.js';
import { processorEventsPath } from '../../../api/processor-events/path.js';
import { databaseRoles } from '../../../migrations/roles.js';
import { startMailInbox, type MailInbox } from '../../../lab/mail/index.js';
import { proxyPath } from '../../../lab/provider/proxy.js';
import { startLabProcessor, type LabProcessor } from '../../../lab/processor/server.js';
import { API_KEY, startLivingLab, type LivingLab } from '../../lab/provider/living-lab.js';
import {
  installationKey,
  sealingKeys,
  startApi,
  webhookSecret,
  type SignedIn,
  type TestApi,
} from '../http/api.js';
import { startTestListener, type TestListener } from '../http/listener.js';
import { createTestDatabase, type TestDatabase } from '../servers/database.js';
import { credit } from '../money/money.js';
import { assertToldAgrees } from '../story/told-events.js';
import { browserVariables } from '../../../lab/stack/children.js';
import { findFreePorts } from '../../../lab/stack/ports.js';
import { readStackSettings } from '../../../lab/stack/settings.js';
import { createTestNamespace, type TestNamespace } from '../servers/namespace.js';
import { until } from '../until.js';
import { startTestWorkers, type WorkerParts } from './workers.js';

/** The whole service for one test file, with the lab as the outside world. Everything is real and runs on loopback. */
export interface TestService {
  readonly api: TestApi;
  readonly db: Database;
  readonly databaseUrl: string;
  readonly namespace: TestNamespace;
  /** A client in the service's own namespace. */
  readonly temporal: Client;
  readonly gpus: LivingLab;
  readonly processor: LabProcessor;
  /** The official SDK at the lab's processor, for what operators do there by hand. */
  readonly stripe: Stripe;
  readonly inbox: MailInbox;
  /** What machines call, where the test asked for it. */
  readonly listener: TestListener | undefined;
  /** What the worker's activities work with, for code of theirs that a test runs by itself. */
  activityDeps(): Promise<ActivityDeps>;
  /** Signs a new user in, with this much in the wallet. Returns their client. */
  signIn(cents?: number): Promise<SignedIn>;
  startWorker(): Promise<void>;
  stopWorker(): Promise<void>;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly settings?: Partial<ApiSettings>;
  /** A migrated database of the test's own; default: one on the run's server. */
  readonly database?: TestDatabase;
  readonly logLevel?: string;
  /** false: starts without a worker; startWorker starts one later. */
  readonly worker?: boolean;
  /**
   * How often the worker asks upstreams after machines, in milliseconds; default: 300. Most of what an idle service costs is
   * this: whoever waits for no machine asks less often.
   */
  readonly pollMs?: number;
  /** From create until a pod is up, in milliseconds. */
  readonly bootMs?: number;
  /** true: machines fetch their start scripts from a listener. */
  readonly listener?: boolean;
  /** The dialects of the upstreams, all of them the lab; default: Shadeform alone. */
  readonly dialects?: readonly Dialect[];
  /** true: with the loops of the upkeep. By default a test runs their rounds by hand. */
  readonly upkeep?: boolean;
  /** The number of tick engines; 0 leaves metering to the rentals' own loops. */
  readonly shards?: number;
  /** Puts a layer between the service and its upstream, such as a list that lags. */
  readonly wrapProvider?: (provider: Provider) => Provider;
  /** Puts a layer before the payment processor, in the worker alone. */
  readonly wrapProcessor?: (processor: Processor) => Processor;
  /** The time between two attempts of auto-topup, in milliseconds; default: the specification's 5 minutes. */
  readonly autoTopupCooldownMs?: number;
  /** What machines may cost that nobody is billed for; default: a lot, as all users of the lab pay with one card. */
  /** How long own software has until it is billed all the same, in milliseconds; default: the product's limit. */
  readonly ownSoftwareGraceMs?: number;
  readonly freeMachines?: WorkerParts['settings']['freeMachines'];
  /** The address that findings are mailed to; default: none. */
  readonly operatorEmail?: string;
  /** How long a mail of notices waits for more to tell, in milliseconds; default: an hour, so that none is sent. */
  readonly noticeQuietMs?: number;
  /** How the worker reaches endpoints of webhooks; default: receivers on loopback, the product's limits. */
  readonly webhookSender?: Partial<SenderOptions>;
  /** How long the worker waits for one answer of the processor, in milliseconds; default: the product's limits. */
  readonly processorTimeoutMs?: number;
  /** The folder of a built dashboard, to which the payment pages lead back; default: none. */
  readonly dashboardFolder?: string;
  /** The name by which browsers find the dashboard; default: 127.0.0.1. */
  readonly dashboardName?: string;
}

export const secretKey = 'sk_test_service';
export const publishableKey = 'pk_test_service';

const upstreams = {
  shadeform: { code: 'lab', path: '', create: createShadeformProvider },
  runpod: { code: 'lab-runpod', path: '', create: createRunpodProvider },
  vast: { code: 'lab-vast', path: '/vast', create: createVastProvider },
  lambda: { code: 'lab-lambda', path: '/lambda', create: createLambdaProvider },
};

/** How long the upstream's adapter waits for an answer, in milliseconds: the lab answers within a few, or never. */
const CALL_LIMIT_MS = 2_000;

/** The stops of all that was started. They run in the opposite order, whatever fails on the way. */
type Stops = (() => unknown)[];

/** Starts the whole service on free ports. Call `stop` in an `after` hook. */
export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const stops: Stops = [];
  try {
    const parts = await startParts(options, stops);
    const service = assemble(parts, options, stops);
    if (options.worker !== false) await service.startWorker();
    return service;
  } catch (error) {
    await stopAll(stops);
    throw error;
  }
}

interface Parts {
  readonly databaseUrl: string;
  readonly namespace: TestNamespace;
  readonly api: TestApi;
  readonly gpus: LivingLab;
  readonly processor: LabProcessor;
  readonly inbox: MailInbox;
  readonly listener: TestListener | undefined;
}

async function startParts(options: ServiceOptions, stops: Stops): Promise<Parts> {
  const folder = mkdtempSync(join(tmpdir(), 'service-test-'));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  const [database, namespace] = await Promise.all([
    options.database ?? createTestDatabase(),
    createTestNamespace(),
  ]);
  stops.push(
    () => database.drop(),
    () => namespace.close(),
  );
  const place = await placeOfDashboard(options);
  const api = await startApi({
    ...{ port: place?.port, dashboardFolder: options.dashboardFolder },
    databaseUrl: database.url,
    temporalAddress: namespace.address,
    namespace: namespace.name,
    settings: {
      reachMs: 2_000,
      billing: {
        enabled: true,
        publishableKey,
        livemode: false,
        // It gets its port later.
        get simulatorUrl() {
          return processor.url;
        },
      },
      ...place?.settings,
      ...options.settings,
    },
    ...(options.logLevel !== undefined && { logLevel: options.logLevel }),
    processor: () => createStripeProcessor({ secretKey, apiUrl: processor.url }),
  });
  stops.push(() => api.stop());
  const gpus = await startLivingLab({ bootMs: options.bootMs ?? 100 });
  stops.push(() => gpus.stop());
  const processor = await startLabProcessor({
    port: place?.processorPort ?? 0,
    dataDir: join(folder, 'processor'),
    secretKey,
    publishableKey,
    webhook: { url: `${api.url}${processorEventsPath}`, secret: webhookSecret },
  });
  stops.push(() => processor.close());
  const inbox = await startMailInbox({ smtpPort: 0, httpPort: 0, dataDir: null });
  stops.push(() => inbox.close());
  const listener = options.listener ? await startTestListener(database.url) : undefined;
  stops.push(() => listener?.stop());
  return { databaseUrl: database.url, namespace, api, gpus, processor, inbox, listener };
}

interface PlaceOfDashboard {
  readonly port: number;
  readonly processorPort: number;
  readonly settings: Partial<ApiSettings>;
}

/** Where the dashboard is seen: the API must know its own address, and the processor's, before it starts. */
async function placeOfDashboard(options: ServiceOptions): Promise<PlaceOfDashboard | undefined> {
  if (options.dashboardFolder === undefined) return undefined;
  const [port = 0, processorPort = 0] = await findFreePorts(2);
  const simulatorUrl = `http://127.0.0.1:${processorPort}`;
  const dashboardUrl = `http://${options.dashboardName ?? '127.0.0.1'}:${port}`;
  // As the local stack tells its API.
  const told = browserVariables(readStackSettings({ API_PORT: String(port), DASHBOARD_URL: dashboardUrl }));
  const settings = {
    ...{ publicUrl: `http://127.0.0.1:${port}`, dashboardUrl: told.DASHBOARD_URL },
    allowedOrigins: [...told.ALLOWED_ORIGINS.split(','), dashboardUrl],
    allowedHosts: told.ALLOWED_HOSTS.split(','),
    billing: { enabled: true, publishableKey, livemode: false, simulatorUrl },
  };
  return { port, processorPort, settings };
}

function assemble(parts: Parts, options: ServiceOptions, stops: Stops): TestService {
  const { api, namespace, processor } = parts;
  let workerStops: Stops = [];
  let ownDeps: Promise<ActivityDeps> | undefined;
  const stopWorker = (): Promise<void> => {
    const stopping = workerStops;
    workerStops = [];
    return stopAll(stopping);
  };
  stops.push(stopWorker);
  return {
    ...parts,
    db: api.db,
    temporal: namespace.client,
    stripe: new Stripe(secretKey, {
      ...{ host: '127.0.0.1', port: processor.port, protocol: 'http', telemetry: false },
      maxNetworkRetries: 0,
    }),
    async signIn(cents = 0) {
      const user = await api.signIn();
      if (cents > 0) await credit(api.db, user.user.id, cents);
      return user;
    },
    activityDeps() {
      ownDeps ??= openOwnDeps(parts, options, stops);
      return ownDeps;
    },
    async startWorker() {
      const deps = openDeps(parts, options, workerStops);
      const workers = await startTestWorkers(namespace, deps);
      workerStops.push(() => workers.stop());
      await until('the catalog is read', async () => (await api.db('listings').first('id')) !== undefined);
    },
    stopWorker,
    async stop() {
      // Asked last, when nothing goes on any more.
      stops.push(() => assertToldAgrees(api.db));
      stops.push(stopWorker);
      await stopAll(stops);
    },
  };
}

/** Makes the activities' dependencies, as worker/index.ts does from its configuration. */
function openDeps(parts: Parts, options: ServiceOptions, stops: Stops): WorkerParts {
  const { worker } = databaseRoles;
  const db = openDatabase(parts.databaseUrl, 10, 'test-worker', worker, databaseDeadlines.worker);
  const openDb = openDatabase(parts.databaseUrl, 20, 'test-worker-open', worker, databaseDeadlines.open);
  const meterDb = openDatabase(parts.databaseUrl, 2, 'test-worker-meter', worker, databaseDeadlines.meter);
  const webhookDb = openDatabase(
    parts.databaseUrl,
    3,
    'test-worker-webhooks',
    worker,
    databaseDeadlines.worker,
  );
  const mail = createSmtpTransport({ smtpUrl: parts.inbox.smtpUrl, from: 'GPU rental <no-reply@localhost>' });
  stops.push(
    () => db.destroy(),
    () => openDb.destroy(),
    () => meterDb.destroy(),
    () => webhookDb.destroy(),
    () => mail.close(),
  );
  const oddities = createOddityBook();
  const providers = (options.dialects ?? ['shadeform']).map((dialect) => {
    const { code, path, create } = upstreams[dialect];
    const provider = create({
      ...{ code, url: parts.gpus.url() + path, apiKey: API_KEY, deployment: 'test' },
      proxyUrl: `${parts.gpus.url()}${proxyPath}`,
      timeoutMs: CALL_LIMIT_MS,
      budget: undefined,
      machinesFetch: parts.listener !== undefined,
      onOddity: (oddity) => oddities.note(code, oddity),
    });
    return [code, options.wrapProvider?.(provider) ?? provider] as const;
  });
  const processor = createStripeProcessor({
    ...{ secretKey, apiUrl: parts.processor.url },
    ...(options.processorTimeoutMs === undefined ? {} : { timeoutMs: options.processorTimeoutMs }),
  });
  return {
    ...{ db, openDb, meterDb, webhookDb, mail, log: parts.api.deps.log },
    webhooks: {
      send: createWebhookSender({ allowPrivate: true, ownHosts: [], ...options.webhookSender }),
      openSecret: createSecretOpener([sealingKeys.privateKey]),
    },
    providers: new Map(providers),
    oddities,
    prober: createProber(20),
    processor: options.wrapProcessor?.(processor) ?? processor,
    settings: {
      deployment: 'test',
      shards: options.shards ?? 1,
      // Any length of a day of dunning is allowed, so that 30 days pass in seconds.
      minDunningDayMs: 1,
      allowPrivatePods: true,
      withoutUpkeep: options.upkeep !== true,
      seller: unnamedSeller,
      publicUrl: parts.api.url,
      noticeQuietMs: options.noticeQuietMs ?? 3_600_000,
      checkoutUrls: checkoutUrlsOf(parts, options),
      pollMs: options.pollMs ?? 300,
      installationKey,
      machineUrl: machineUrlOf(parts),
      ...(options.ownSoftwareGraceMs !== undefined && { ownSoftwareGraceMs: options.ownSoftwareGraceMs }),
      operatorEmail: options.operatorEmail ?? null,
      ...limitsOf(options),
    },
  };
}

/** Where machines reach the listener; null: there is none. */
function machineUrlOf({ listener }: Parts): string | null {
  return listener?.url ?? null;
}

/** The same for activities that run without a worker. */
async function openOwnDeps(parts: Parts, options: ServiceOptions, stops: Stops): Promise<ActivityDeps> {
  const { address, name } = parts.namespace;
  const temporal = await connectTemporal({ address, namespace: name });
  stops.push(() => temporal.connection.close());
  return { ...openDeps(parts, options, stops), temporal };
}

function checkoutUrlsOf({ api }: Parts, { dashboardFolder }: ServiceOptions) {
  if (dashboardFolder === undefined) {
    return { success: 'http://127.0.0.1/success', cancel: 'http://127.0.0.1/cancel' };
  }
  const back = `${api.deps.settings.dashboardUrl}/app/billing?session=`;
  return { success: `${back}success`, cancel: `${back}cancel` };
}

/** Cents that machines nobody is billed for may cost in a test's service, in this process or in another. */
export const freeCents = 1_000_000;

/** The product's limits that a test changes. */
function limitsOf({
  autoTopupCooldownMs,
  freeMachines,
}: ServiceOptions): Pick<WorkerParts['settings'], 'autoTopupCooldownMs' | 'freeMachines'> {
  return {
    ...(autoTopupCooldownMs !== undefined && { autoTopupCooldownMs }),
    freeMachines: freeMachines ?? { freeCents },
  };
}

async function stopAll(stops: Stops): Promise<void> {
  const faults: unknown[] = [];
  for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) {
    try {
      await stop();
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0)
    throw new AggregateError(faults, `not all of the service could be stopped: ${faults.join('; ')}`);
}
