import cors from '@koa/cors';
import type { Middleware } from 'koa';
import { Refusal } from '../../../domain/refusal.js';
import type { ApiState } from '../../context.js';
import { isReading } from './safe-methods.js';

/**
 * CORS for the origins on the list, with cookies; every answer varies by Origin (decision 12, "Allowed origins").
 * @param headers the headers that pages may send besides the API's own
 */
export function allowOrigins(
  allowed: readonly string[],
  headers: readonly string[] = [],
): Middleware<ApiState, object> {
  return cors({
    origin: (ctx) => {
      const origin = ctx.get('Origin');
      return allowed.includes(origin) ? origin : '';
    },
    credentials: true,
    allowMethods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowHeaders: [
      'Content-Type',
      'Idempotency-Key',
      'If-None-Match',
      'Last-Event-ID',
      'X-Request-Id',
      ...headers,
    ],
    exposeHeaders: [
      'Deprecation',
      'ETag',
      'Idempotent-Replayed',
      'RateLimit',
      'RateLimit-Policy',
      'Retry-After',
      'Sunset',
      'X-Request-Id',
    ],
    maxAge: 600,
  }) as Middleware<ApiState, object>;
}

/**
 * Refuses changes that a page of a foreign origin requests: the browser would send the cookie along.
 * @param overTls whether clients reach the service by TLS only: the same page without it is told so
 * @param openPaths where no cookie counts
 */
export function refuseForeignOrigins(
  allowed: readonly string[],
  openPaths: readonly string[] = [],
  overTls = false,
): Middleware<ApiState, object> {
  return async (ctx, next) => {
    const origin = ctx.get('Origin');
    const isForeign = origin !== '' && !allowed.includes(origin);
    if (isForeign && !isReading(ctx.method) && !openPaths.includes(ctx.path)) {
      const secure = origin.replace(/^http:/, 'https:').replace(/:80$/, '');
      throw new Refusal(
        'forbidden',
        overTls && origin.startsWith('http:') && allowed.includes(secure)
          ? `Use https: open ${secure} and try again. Nothing was changed.`
          : 'Pages from this origin can’t make changes. Add it to the allowed origins.',
      );
    }
    await next();
  };
}
