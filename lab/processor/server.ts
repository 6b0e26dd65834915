import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import type { ApiDeps } from './api.js';
import { serveApi, type RequestLog } from './api-server.js';
import { createAuthenticationPages } from './cards/authentication-page.js';
import { createCheckoutPages, expireSessions } from './checkout/checkout-page.js';
import { defaultRetryDelaysMs, Deliveries } from './webhooks/delivery.js';
import { apiErrorOf, unknownUrl } from './http/errors.js';
import { Faults } from './faults.js';
import { Idempotency } from './http/idempotency.js';
import { createInvoicePages } from './invoices/invoice-page.js';
import { createLabActions } from './lab-actions.js';
import { createLabPages } from './lab-pages.js';
import { createSetupPages } from './cards/setup-page.js';
import { Store } from './store.js';
import { configureEndpoint } from './webhooks/webhook-endpoints.js';
import { createWorld } from './world.js';

export interface LabProcessorOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Default: loopback. The simulator has no protection beyond its keys. */
  readonly host?: string;
  /** The folder of the state; made when missing. */
  readonly dataDir: string;
  readonly secretKey: string;
  readonly publishableKey: string;
  /** The receiver of events, and the secret that signs them; null only lists events. */
  readonly webhook: { readonly url: string; readonly secret: string } | null;
  /** The pauses between attempts at a webhook; an event is given up after the last one. */
  readonly retryDelaysMs?: readonly number[];
  /** Milliseconds since the epoch; tests move it. */
  readonly clock?: () => number;
}

export interface LabProcessor {
  /** `http://host:port`, which is also the SDK's protocol, host and port. */
  readonly url: string;
  readonly port: number;
  /** Stops serving and sending; the state stays on disk. */
  close(): Promise<void>;
}

/** The interval at which expired sessions are searched for. */
const sweepIntervalMs = 1000;

/**
 * Starts the payment processor's simulator: the API that the official SDK speaks, the hosted pages, and the signed
 * webhooks. It reads its state from `dataDir`, and resumes pending webhooks.
 * @throws Error when the port is taken or the state can't be read
 */
export async function startLabProcessor(options: LabProcessorOptions): Promise<LabProcessor> {
  const host = options.host ?? '127.0.0.1';
  const clock = options.clock ?? Date.now;
  const now = (): number => Math.floor(clock() / 1000);
  const store = new Store(options.dataDir);
  const faults = new Faults();
  const log: RequestLog = [];
  const server = createServer();
  const port = await listen(server, options.port, host);
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const baseUrl = (): string => url;

  configureEndpoint(store, now(), options.webhook);
  const retryDelaysMs = options.retryDelaysMs ?? defaultRetryDelaysMs;
  const deliveries = new Deliveries({ store, faults, baseUrl, now, retryDelaysMs });
  const world = createWorld({ store, faults, deliveries, now });
  const app = createApp(log, {
    world,
    baseUrl,
    secretKey: options.secretKey,
    publishableKey: options.publishableKey,
    idempotency: new Idempotency(store, now),
  });
  const handle = app.callback();
  server.on('request', (request, response) => void handle(request, response));
  deliveries.resume();
  const sweep = setInterval(() => expireSessions(world), sweepIntervalMs);
  return {
    url,
    port,
    async close() {
      clearInterval(sweep);
      await deliveries.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function createApp(log: RequestLog, deps: ApiDeps): Koa {
  const { world } = deps;
  const app = new Koa();
  // A client that hangs up is an ordinary event here: half of the faults cause it.
  app.silent = true;
  app.use(async (ctx, next) => {
    try {
      await next();
      if (ctx.status === 404 && ctx.body === undefined && ctx.respond !== false) {
        throw unknownUrl(ctx.method, ctx.path);
      }
    } catch (error) {
      const known = apiErrorOf(error);
      ctx.status = known.status;
      ctx.body = { error: known.body };
    }
  });
  app.use(serveApi(deps, log));
  app.use(createCheckoutPages(world).routes());
  app.use(createAuthenticationPages(world).routes());
  app.use(createSetupPages(world).routes());
  app.use(createInvoicePages(world).routes());
  app.use(createLabActions(world, deps.baseUrl).routes());
  app.use(createLabPages(world, log, deps.baseUrl).routes());
  return app;
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
