import { randomUUID } from 'node:crypto';
import type { Middleware } from 'koa';
import type { Logger } from 'pino';
import type { ApiState } from '../../context.js';

const SANE = /^[A-Za-z0-9._-]{1,64}$/;

/** Gives each request an id, the caller's own X-Request-Id when it is sane, and a log of its own. */
export function requestId(log: Logger): Middleware<ApiState, object> {
  return async (ctx, next) => {
    const given = ctx.get('X-Request-Id');
    ctx.state.requestId = SANE.test(given) ? given : randomUUID();
    ctx.state.log = log.child({ requestId: ctx.state.requestId });
    ctx.set('X-Request-Id', ctx.state.requestId);
    await next();
  };
}
