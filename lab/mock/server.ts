import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import type { ApiRouter } from '../../api/context.js';
import { createFrame, createPlainRouter } from '../../api/http/frame.js';
import { loopbackOrigins } from '../../api/http/middleware/hosts.js';
import { unreadUnsubscribe } from '../../api/notices/unsubscribe.js';
import { readDashboard } from '../../api/service/dashboard/files.js';
import { dashboardRoutes } from '../../api/service/dashboard/routes.js';
import { defaultTimeouts } from '../../api/server.js';
import { streamLimits } from '../../domain/events/stream-limits.js';
import { Machines } from './machines.js';
import { tick } from './meter.js';
import { failOnDemand, mockHeaders, wait } from './on-demand.js';
import { apiKeyRoutes } from './routes/api-keys.js';
import { auditRoutes } from './routes/audit.js';
import { authRoutes } from './routes/auth.js';
import { budgetRoutes } from './routes/budget.js';
import { eventRoutes } from './routes/events.js';
import { catalogRoutes } from './routes/catalog.js';
import { invoiceRoutes } from './routes/invoices.js';
import { noticeRoutes } from './routes/notices.js';
import { pageRoutes } from './routes/pages.js';
import { paymentRoutes } from './routes/payments.js';
import { receiptRoutes } from './routes/receipts.js';
import { quoteRoutes } from './routes/quotes.js';
import { rentalRoutes } from './routes/rentals.js';
import { sessionRoutes } from './routes/sessions.js';
import { serviceRoutes } from './routes/service.js';
import { passkeyRoutes } from './routes/passkeys.js';
import { closingRoutes } from './routes/closing.js';
import { exportRoutes } from './routes/export.js';
import { sshKeyRoutes } from './routes/ssh-keys.js';
import { webhookRoutes } from './routes/webhooks.js';
import { identifyCallers } from './signed-in.js';
import { mockSupportContact, walletRoutes } from './routes/wallet.js';
import { mockDurations, World, type Clock, type MockDurations } from './world.js';

export interface MockOptions {
  /** 0 takes a free port. */
  readonly port: number;
  /** Origins of pages that may call with cookies, besides the mock's own. */
  readonly allowedOrigins?: readonly string[];
  /** The address to which browsers return after a payment; default: the mock itself. */
  readonly dashboardUrl?: string;
  /** The folder of the built dashboard; default: plain pages stand in. */
  readonly dashboardFolder?: string | undefined;
  /** The minimum time of each answer, in milliseconds. */
  readonly latencyMs?: number;
  readonly durations?: Partial<MockDurations>;
  /** What time it is, and when planned events happen; default: the system's clock. */
  readonly clock?: Clock;
  readonly logLevel?: string;
  /** Whether rentals have a machine that answers SSH on loopback; default: no. */
  readonly withMachines?: boolean;
  /** Whether strangers are told what families cost (PUBLIC_PRICES); default: no. */
  readonly publicPrices?: boolean;
}

export interface MockServer {
  readonly url: string;
  /** All that it knows, for who makes up a past. */
  readonly world: World;
  /** Brings every meter up to now, as happens once a second anyway. */
  tick(): void;
  stop(): Promise<void>;
}

const resources = [
  authRoutes,
  sessionRoutes,
  passkeyRoutes,
  closingRoutes,
  exportRoutes,
  sshKeyRoutes,
  apiKeyRoutes,
  webhookRoutes,
  catalogRoutes,
  quoteRoutes,
  rentalRoutes,
  walletRoutes,
  budgetRoutes,
  paymentRoutes,
  receiptRoutes,
  invoiceRoutes,
  auditRoutes,
  noticeRoutes,
  eventRoutes,
];

/** Serves the whole of /v1 from memory on loopback. A stop loses the state. */
export async function startMock(options: MockOptions): Promise<MockServer> {
  // As the service: whoever asks again soon must not find the connection just closed.
  const server = createServer({ keepAliveTimeout: defaultTimeouts.keepAliveMs });
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const machines = options.withMachines === true ? new Machines() : undefined;
  const origins = [...loopbackOrigins(port), ...(options.allowedOrigins ?? [])];
  const durations = { ...mockDurations, ...options.durations };
  const world = new World(
    ...([url, durations, options.clock, origins, machines, options.publicPrices] as const),
    options.dashboardUrl,
  );
  const handle = createMock(world, options).callback();
  server.on('request', (request, response) => void handle(request, response));
  const ticking = setInterval(() => tick(world), world.durations.tickMs);
  const telling = setInterval(() => world.events.tick(world.accounts.all()), streamLimits.stateEveryMs);
  return {
    url,
    world,
    tick: () => tick(world),
    async stop() {
      clearInterval(ticking);
      clearInterval(telling);
      world.close();
      await machines?.close();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Makes every route of the mock. */
export function createMockRouter(world: World, dashboardFolder: string | undefined): ApiRouter {
  const { dashboardUrl: url } = world;
  const router = createPlainRouter();
  for (const addRoutes of resources) addRoutes(router, world);
  const files = readDashboard(dashboardFolder);
  // What is found first answers: the plain pages stand behind the dashboard.
  if (files) dashboardRoutes(router, { files, url, apiOrigin: undefined, takesCards: false });
  serviceRoutes(router, world);
  pageRoutes(router, world, url);
  return router;
}

/** The mock's routes in the API's own frame. */
function createMock(world: World, options: MockOptions) {
  const { latencyMs = 0, logLevel = 'silent' } = options;
  const { dashboardUrl } = world;
  return createFrame(
    {
      log: pino({ level: logLevel }),
      allowedOrigins: world.allowedOrigins,
      hosts: world.allowedOrigins.map((origin) => new URL(origin).host),
      dashboardUrl,
      supportContact: mockSupportContact,
      trustProxy: false,
      overTls: false,
      allowedHeaders: mockHeaders,
      first: [wait(latencyMs), failOnDemand(), identifyCallers(world)],
      rawPaths: [unreadUnsubscribe],
    },
    createMockRouter(world, options.dashboardFolder),
  );
}
