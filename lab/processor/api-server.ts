import { setTimeout as pause } from 'node:timers/promises';
import type { Middleware, ParameterizedContext } from 'koa';
import rawBody from 'raw-body';
import { admit, findKept, headersOf, perform, type ApiDeps, type ApiAnswer } from './api.js';
import type { Fault } from './faults.js';
import { writeJson } from './http/page-url.js';
import { newId } from './ids.js';

/** The last requests to the API, for tests that count calls. */
export type RequestLog = { method: string; path: string; idempotencyKey: string | null; status: number }[];
const logLimit = 1000;

type Context = ParameterizedContext;

/** Serves the API under /v1 over HTTP, with the faults that are ordered for the way there and back. */
export function serveApi(deps: ApiDeps, log: RequestLog): Middleware {
  return (ctx, next) => (ctx.path.startsWith('/v1/') ? serve(deps, log, ctx) : next());
}

async function serve(deps: ApiDeps, log: RequestLog, ctx: Context): Promise<void> {
  const requestId = newId('req', 14);
  ctx.set(headersOf(requestId));
  const { method, path, querystring: query } = ctx;
  const headers = ctx.headers as Record<string, string | undefined>;
  const body = method === 'POST' ? await rawBody(ctx.req, { limit: '1mb', encoding: 'utf8' }) : '';
  const admitted = admit(deps, { method, path, query, headers, body }, requestId);
  const { faults } = deps.world;
  const early = faults.takeRequest(method, path, ['status', 'html', 'reset', 'hang']);
  if (early !== undefined && !early.sticky) {
    breakBefore(ctx, early);
    return;
  }

  const { key } = admitted.request;
  const kept = findKept(deps, admitted);
  if (key !== '') ctx.set('idempotency-key', key);
  if (kept !== undefined) {
    ctx.set(kept.headers);
    answer(log, ctx, kept);
    return;
  }
  const release = key === '' ? () => undefined : deps.idempotency.use(key);
  try {
    const slow = faults.takeRequest(method, path, ['slow']);
    if (slow !== undefined) await pause(slow.delayMs);
    const made = perform(
      deps,
      admitted,
      early && { status: early.status, body: writeJson(faultBody(early), deps.baseUrl()) },
    );
    const lost = faults.takeRequest(method, path, ['lost']);
    if (lost === undefined) answer(log, ctx, made);
    else loseAnswer(ctx, lost);
  } finally {
    release();
  }
}

function answer(log: RequestLog, ctx: Context, { status, body }: Pick<ApiAnswer, 'status' | 'body'>): void {
  ctx.status = status;
  ctx.type = 'application/json';
  ctx.body = body;
  const idempotencyKey = ctx.get('idempotency-key');
  log.push({
    method: ctx.method,
    path: ctx.path,
    idempotencyKey: idempotencyKey === '' ? null : idempotencyKey,
    status,
  });
  if (log.length > logLimit) log.shift();
}

/** Plays a fault in front of the API; the request has no effect. */
function breakBefore(ctx: Context, fault: Fault): void {
  if (fault.kind === 'status') {
    ctx.status = fault.status;
    ctx.body = faultBody(fault);
  } else if (fault.kind === 'html') {
    ctx.status = 502;
    ctx.type = 'html';
    ctx.body = '<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>';
  } else {
    loseAnswer(ctx, { silent: fault.kind === 'hang' });
  }
}

function loseAnswer(ctx: Context, { silent }: Pick<Fault, 'silent'>): void {
  ctx.respond = false;
  if (!silent) ctx.req.socket.resetAndDestroy();
}

function faultBody({ status, code }: Pick<Fault, 'status' | 'code'>): object {
  return status === 429
    ? {
        error: {
          type: 'invalid_request_error',
          code: code ?? 'rate_limit',
          message: 'Too many requests: wait a moment.',
        },
      }
    : { error: { type: 'api_error', message: `The processor failed with ${status}, as was ordered.` } };
}
