import { Router } from '@koa/router';
import Koa, { type Middleware } from 'koa';
import type { Logger } from 'pino';
import type { ApiDeps, ApiRouter, ApiState } from '../context.js';
import { readBodies, type RawPath } from './middleware/body.js';
import { errors } from './middleware/errors.js';
import { leadPagesHome, refuseUnknownHosts } from './middleware/hosts.js';
import { openingPaths, tellOutcomes } from './middleware/outcomes.js';
import { allowOrigins, refuseForeignOrigins } from './middleware/origins.js';
import { requestId } from './middleware/request-id.js';
import { requestLog } from './middleware/request-log.js';
import { traceRequests } from './middleware/trace.js';
import { refuseUnrouted } from './middleware/routing.js';
import { securityHeaders } from './middleware/security-headers.js';

/** The frame around every request: the API and its mock (lab/mock/) share it. */
export interface Frame {
  readonly log: Logger;
  readonly allowedOrigins: readonly string[];
  readonly trustProxy: boolean;
  /** The hosts that it answers to, as `host:port`; default: any. */
  readonly hosts?: readonly string[] | null;
  /** Where people get help; null or left out: nobody is named. */
  readonly supportContact?: string | null;
  /** Where browsers reach the dashboard, without a slash at the end. */
  readonly dashboardUrl: string;
  /** Whether clients reach it by TLS only: then browsers are told to stay with it. */
  readonly overTls: boolean;
  /** Headers that pages may send besides the API's own. */
  readonly allowedHeaders?: readonly string[];
  /** Hears of each answered request. */
  readonly observeRequest?: ApiDeps['observeRequest'];
  /** Paths whose bodies are read by their own rules. */
  readonly rawPaths?: readonly RawPath[];
  /** Middleware that runs before anything of a request is read. */
  readonly first?: readonly Middleware<ApiState, object>[];
}

/** Makes a router that takes paths as they are written. */
export function createPlainRouter(): ApiRouter {
  return new Router<ApiState>({ strict: true, sensitive: true });
}

/** Puts the frame around routes. */
export function createFrame(frame: Frame, router: ApiRouter): Koa<ApiState, object> {
  const { log, allowedOrigins, trustProxy, allowedHeaders = [], first = [], rawPaths = [] } = frame;
  const app = new Koa<ApiState, object>({
    proxy: trustProxy,
    // Only the last address of X-Forwarded-For is our own proxy's word; the ones before it are the caller's.
    maxIpsCount: 1,
  });
  // Failures of a connection itself; errors() answers all others.
  app.on('error', (error: unknown) => log.warn({ err: error }, 'a connection failed'));
  app.use(requestId(log));
  app.use(traceRequests());
  app.use(requestLog(frame.observeRequest));
  app.use(securityHeaders(frame.overTls));
  app.use(errors(frame.supportContact ?? null));
  app.use(allowOrigins(allowedOrigins, allowedHeaders));
  app.use(tellOutcomes(openingPaths));
  app.use(refuseUnknownHosts(frame.hosts ?? null));
  app.use(leadPagesHome(frame.dashboardUrl));
  app.use(refuseUnrouted(router));
  for (const look of first) app.use(look);
  const openPaths = rawPaths.filter(({ fromAnyOrigin }) => fromAnyOrigin === true).map(({ path }) => path);
  app.use(refuseForeignOrigins(allowedOrigins, openPaths, frame.overTls));
  app.use(readBodies(rawPaths, trustProxy));
  app.use(router.routes());
  return app;
}
