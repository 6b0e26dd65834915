import { isUtf8 } from 'node:buffer';
import { Router } from '@koa/router';
import Koa, { type Context } from 'koa';
import type { Logger } from 'pino';
import getRawBody from 'raw-body';
import { hashOfMachineToken, openBundle } from '../adapters/machine-bundles.js';
import type { AnsweredRequest } from '../adapters/metrics/requests.js';
import { isDatabaseAway } from '../adapters/postgres/availability.js';
import type { MachineDesk, Reported } from '../adapters/postgres/machines/machine-tokens.js';
import { shareLook } from '../adapters/kept.js';
import {
  keptAliveWords,
  listenerReadyPath,
  machineCallLimits,
  machineKeepAlivePath,
  machineReportsPath,
  machineUsePath,
} from '../domain/machines/calls.js';
import { findToken, limitCallers, type CallLimits } from './address-limit.js';
import { refuse, Refused } from './refused.js';

/** What the listener works with. It holds no key: what it hands out is opened by the token that a machine brings. */
export interface ListenerDeps extends Partial<CallLimits> {
  readonly desk: MachineDesk;
  readonly log: Logger;
  /** Whether one proxy stands in front and appends the caller to X-Forwarded-For. */
  readonly trustProxy: boolean;
  readonly observeRequest?: (request: AnsweredRequest) => void;
}

/**
 * Makes what answers machines (decision 172, "The listener of machines"): five routes by a token, two for monitors, and one
 * by which workers see through the proxy whether machines are heard.
 * Every token that does nothing now gets one answer, byte for byte, and no line of the log has a token.
 */
export function createListener(deps: ListenerDeps): Koa {
  const app = new Koa({ proxy: deps.trustProxy, maxIpsCount: 1 });
  app.on('error', (error: unknown) => deps.log.warn({ err: error }, 'a connection failed'));
  app.use(logRequests(deps));
  app.use(answerFailures(deps.log));
  const showReady = readyStep(deps);
  // Workers may share one address with all machines, whose calls must not end their sight of it.
  app.use(strictRouter().get(listenerReadyPath, showReady).routes());
  app.use(limitCallers({ ...machineCallLimits, ...deps }));
  app.use(routesOf(deps, showReady).routes());
  app.use(() => refuse('not_found'));
  return app;
}

function strictRouter(): Router {
  return new Router({ strict: true, sensitive: true });
}

/** Asks for a hash that no token has: an answer says that the database is there, with the functions. @throws where not */
export function lookAtDatabase(desk: Pick<MachineDesk, 'bundle'>): Promise<unknown> {
  return desk.bundle(Buffer.alloc(1));
}

/** Says whether the database answers. All who ask share one look: strangers ask without a limit. */
function readyStep({ desk }: ListenerDeps): (ctx: Context) => Promise<void> {
  const look = shareLook(machineCallLimits.readyKeptMs, () => lookAtDatabase(desk));
  return async (ctx) => {
    await look();
    ctx.body = { status: 'ready' };
  };
}

function routesOf({ desk }: ListenerDeps, showReady: (ctx: Context) => Promise<void>): Router {
  const router = strictRouter();
  router.get('/healthz', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  router.get('/readyz', showReady);
  router.get('/v1/machine/bundle', async (ctx) => {
    const token = tokenOf(ctx);
    const sealed = await desk.bundle(hashOfMachineToken(token));
    if (sealed === null) refuse('unauthorized');
    ctx.type = 'text/x-shellscript; charset=utf-8';
    ctx.body = openBundle(token, sealed);
  });
  router.post('/v1/machine/bundle/acknowledged', async (ctx) => {
    await bytesOf(ctx);
    if (!(await desk.acknowledge(hashOfMachineToken(tokenOf(ctx))))) refuse('unauthorized');
    ctx.status = 204;
  });
  router.post(machineReportsPath, async (ctx) => {
    const text = textOf(await bytesOf(ctx));
    tell(ctx, await desk.report(hashOfMachineToken(tokenOf(ctx)), text));
  });
  router.post(machineUsePath, async (ctx) => {
    const text = textOf(await bytesOf(ctx));
    const reported = await desk.use(hashOfMachineToken(tokenOf(ctx)), text);
    if (reported?.outcome === 'unreadable') refuse('report_unreadable');
    tell(ctx, reported?.outcome ?? null);
    // The reporter shows it to whoever is logged in.
    if (reported?.stopsAtMs) {
      ctx.status = 200;
      ctx.body = stopWords(new Date(reported.stopsAtMs));
    }
  });
  router.post(machineKeepAlivePath, async (ctx) => {
    const asked = textOf(await bytesOf(ctx), 'time_unreadable');
    const kept = await desk.keepAlive(hashOfMachineToken(tokenOf(ctx)), minutesOf(asked));
    if (kept === null) refuse('unauthorized');
    if (kept.outcome !== 'kept') refuse(unkept[kept.outcome]);
    ctx.body = keptWords(new Date(kept.untilMs ?? 0));
  });
  return router;
}

const unkept = {
  unguarded: 'no_idle_guard',
  ending: 'rental_ending',
  too_many: 'too_many_keep_alives',
  unreadable: 'time_unreadable',
} as const;

/** Reads a time such as 2h or 90m in minutes. */
function minutesOf(asked: string): number {
  const [, count, unit] = /^(\d{1,4})([hm])\s*$/.exec(asked) ?? refuse('time_unreadable');
  return Number(count) * (unit === 'h' ? 60 : 1);
}

function keptWords(until: Date): string {
  const [day, time] = until.toISOString().split('T');
  return `${keptAliveWords} for being idle before ${day} ${time?.slice(0, 5)} UTC. Its limits still apply.\n`;
}

function stopWords(at: Date): string {
  const time = `${at.toISOString().slice(11, 16)} UTC`;
  return `This machine is idle and stops at ${time}. Use it, or run on your computer: gpu keep-alive\n`;
}

function tell(ctx: Context, reported: Reported): void {
  if (reported === null) refuse('unauthorized');
  if (reported === 'repeated') refuse('report_repeated');
  if (reported === 'too_many') refuse('too_many_reports');
  ctx.status = 204;
}

function tokenOf(ctx: Context): string {
  return findToken(ctx) ?? refuse('unauthorized');
}

/** Reads a body whole, before its token is looked at: what is left unread would be seen in the answer. */
async function bytesOf(ctx: Context): Promise<Buffer> {
  const length = ctx.get('Content-Length') || null;
  try {
    return await getRawBody(ctx.req, { limit: machineCallLimits.bodyMaxBytes, length });
  } catch (error) {
    const isTooLarge = error instanceof Error && 'type' in error && error.type === 'entity.too.large';
    return refuse(isTooLarge ? 'body_too_large' : 'report_unreadable');
  }
}

/** Reads a report as a text that the database can keep. */
function textOf(
  bytes: Buffer,
  otherwise: 'report_unreadable' | 'time_unreadable' = 'report_unreadable',
): string {
  const text = isUtf8(bytes) ? bytes.toString('utf8') : '';
  return text === '' || text.includes('\0') ? refuse(otherwise) : text;
}

function answerFailures(log: Logger): Koa.Middleware {
  return async (ctx, next) => {
    ctx.set('Cache-Control', 'no-store');
    try {
      await next();
    } catch (error) {
      const refused = error instanceof Refused ? error : refusedBy(error, log);
      ctx.status = refused.status;
      ctx.body = refused.body;
      if (refused.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(refused.retryAfterSeconds));
      // A body that nobody read stays on the connection.
      if (!ctx.req.complete) ctx.set('Connection', 'close');
    }
  };
}

function refusedBy(error: unknown, log: Logger): Refused {
  if (isDatabaseAway(error)) {
    log.warn({ err: error }, 'the database can’t be asked');
    return new Refused('temporarily_unavailable');
  }
  log.error({ err: error }, 'a request failed');
  return new Refused('internal_error');
}

/** What monitors and workers ask every few seconds, and a thousand machines tell a million times a day. */
const untold: readonly unknown[] = ['/healthz', '/readyz', listenerReadyPath, machineUsePath];

/**
 * One line for each request: neither its headers nor a path that is none of ours. What comes all the time is counted, and
 * has no line when it went well.
 */
function logRequests({ log, observeRequest }: ListenerDeps): Koa.Middleware {
  return async (ctx, next) => {
    const startMs = performance.now();
    await next();
    const elapsedMs = performance.now() - startMs;
    const { _matchedRoute: matched } = ctx as { _matchedRoute?: unknown };
    const route = typeof matched === 'string' ? matched : undefined;
    const { method, status } = ctx;
    observeRequest?.({ method, status, elapsedMs, route });
    if (status < 300 && untold.includes(route)) return;
    log.info({ method, route, status, elapsedMs: Math.round(elapsedMs) }, 'request');
  };
}
