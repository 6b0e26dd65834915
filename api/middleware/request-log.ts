import { performance } from 'node:perf_hooks';
import type { Middleware } from 'koa';
import type { ApiState } from '../context.js';

/** One line per request: what was asked, by whom, and how it went. No query, cookies, codes or bodies. */
export function requestLog(): Middleware<ApiState, object> {
  return async (ctx, next) => {
    const startMs = performance.now();
    await next();
    ctx.state.log.info(
      {
        method: ctx.method,
        path: ctx.path,
        status: ctx.status,
        elapsedMs: Math.round(performance.now() - startMs),
        ...(ctx.state.session && { userId: ctx.state.session.userId }),
      },
      'request',
    );
  };
}
