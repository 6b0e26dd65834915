import { timingSafeEqual, createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa, { HttpError } from 'koa';
import { Fleet } from './fleet.js';
import { labRoutes } from './lab-routes.js';
import { lambdaFailureOf, lambdaRoutes } from './lambda-routes.js';
import { findPodUser, prepareHomesDir } from './pod-home.js';
import { runpodGraphql } from './runpod-graphql.js';
import { proxied } from './proxy.js';
import { problemOf, runpodRoutes } from './runpod-routes.js';
import { shadeformRoutes } from './shadeform-routes.js';
import { openLabStore } from './state.js';
import { vastFailureOf, vastRoutes } from './vast-routes.js';

const DEFAULT_BOOT_MS = 2_000;
const DEFAULT_DELETE_MS = 300;
const DEFAULT_BALANCE_CENTS = 1_000_000;
const DEFAULT_CONTRACT_MS = 30 * 24 * 3_600_000;

export interface LabProviderOptions {
  /** 0 takes a free port. */
  readonly port: number;
  /** Default: loopback. Pods run real commands. */
  readonly host?: string;
  /** The folder of the state, and of the pods' homes if their user can reach it. */
  readonly dataDir: string;
  /** The X-API-KEY under /v1, and the bearer token of the other dialects. */
  readonly apiKey: string;
  /** From create until a pod is up. */
  readonly bootMs?: number;
  /** From delete until a pod is gone from the lists. */
  readonly deleteMs?: number;
}

export interface LabProvider {
  /**
   * The service's origin: Shadeform's API is below /v1, RunPod's below /v2 and at /graphql, Lambda's and Vast's below
   * /lambda/api and /vast/api, the lab's own endpoints below /lab.
   */
  readonly url: string;
  readonly port: number;
  /** The folder of the pods' homes. */
  readonly homesDir: string;
  /** Stops the API and every pod; the state stays for the next start. */
  close(): Promise<void>;
}

/**
 * Starts the lab's GPU provider: four upstreams' dialects over HTTP, and a real SSH server for each pod, all on
 * loopback. It restores the pods of the data folder's state file: on the same ports, with the same host keys.
 */
export async function startLabProvider(options: LabProviderOptions): Promise<LabProvider> {
  const host = options.host ?? '127.0.0.1';
  const homesDir = prepareHomesDir(options.dataDir);
  const store = openLabStore(options.dataDir);
  const fleet = new Fleet(
    store,
    { homesDir, host, user: findPodUser() },
    {
      bootMs: options.bootMs ?? DEFAULT_BOOT_MS,
      deleteMs: options.deleteMs ?? DEFAULT_DELETE_MS,
      balanceCents: DEFAULT_BALANCE_CENTS,
      contractMs: DEFAULT_CONTRACT_MS,
    },
  );
  const app = new Koa();
  app.use(answerErrors);
  app.use(onlyWithKey(options.apiKey));
  app.use(withinQuotas(fleet));
  for (const router of [
    shadeformRoutes(fleet, store),
    runpodRoutes(fleet, store),
    runpodGraphql(fleet),
    vastRoutes(fleet),
    lambdaRoutes(fleet, store),
    labRoutes(fleet, store),
  ]) {
    app.use(router.routes()).use(router.allowedMethods());
  }
  const handle = app.callback();
  const server = createServer((request, response) => {
    if (!proxied(fleet, request, response)) void handle(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port: options.port }, resolve);
  });
  await fleet.restore();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    port,
    homesDir,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, fleet.close()]);
    },
  };
}

/** Answers every failure as `{error}`, or in the dialect's own form, and prints unexpected ones on the terminal too. */
async function answerErrors(ctx: Koa.Context, next: Koa.Next): Promise<void> {
  try {
    await next();
    if (ctx.status === 404 && ctx.body === undefined) ctx.throw(404, 'no such endpoint');
  } catch (error) {
    const status = error instanceof HttpError || error instanceof Error ? statusOf(error) : 500;
    ctx.status = status;
    answerError(ctx, error instanceof Error ? error.message : 'internal error');
    if (status === 500 && !(error instanceof HttpError)) console.error('lab provider:', error);
  }
}

function answerError(ctx: Koa.Context, message: string): void {
  if (isOfRunpod(ctx)) {
    ctx.body = problemOf(ctx.status, message);
    ctx.type = 'application/problem+json';
  } else if (ctx.path.startsWith('/lambda/')) ctx.body = lambdaFailureOf(ctx.status, message);
  else if (ctx.path.startsWith('/vast/')) ctx.body = vastFailureOf(ctx.status, message);
  else ctx.body = { error: message };
}

function statusOf(error: Error): number {
  const { status } = error as { status?: unknown };
  return typeof status === 'number' ? status : 500;
}

/**
 * Requires the key for the API. The lab's own endpoints need none, so that a person can use them with curl. A web page
 * can't use them, because browsers send their origin.
 */
function onlyWithKey(apiKey: string): Koa.Middleware {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return async (ctx, next) => {
    if (ctx.get('origin') !== '') ctx.throw(403, 'not for web pages');
    const byToken = takesToken(ctx);
    const key = byToken ? ctx.get('authorization') : ctx.get('x-api-key');
    const known = timingSafeEqual(digest(key), digest(byToken ? `Bearer ${apiKey}` : apiKey));
    if ((ctx.path.startsWith('/v1') || byToken) && !known) ctx.throw(401, 'invalid API key');
    await next();
  };
}

/** Tells the account's quotas with every answer of RunPod's REST API, and refuses requests beyond them. */
function withinQuotas({ quotas }: Fleet): Koa.Middleware {
  return async (ctx, next) => {
    if (ctx.path.startsWith('/v2')) {
      const nowMs = performance.now();
      const over = quotas.take(nowMs);
      ctx.set(quotas.headers(nowMs));
      if (over !== undefined) {
        ctx.set('retry-after', String(over.retryAfterSeconds));
        ctx.throw(429, `rate limit exceeded for the ${over.beyond} window`);
      }
    }
    await next();
  };
}

function takesToken(ctx: Koa.Context): boolean {
  return isOfRunpod(ctx) || /^\/(lambda|vast)\//.test(ctx.path);
}

function isOfRunpod(ctx: Koa.Context): boolean {
  return ctx.path.startsWith('/v2') || ctx.path === '/graphql';
}
