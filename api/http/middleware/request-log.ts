import { performance } from 'node:perf_hooks';
import type { RouterContext } from '@koa/router';
import type { Middleware } from 'koa';
import { logOfPart } from '../../../adapters/log.js';
import type { AnsweredRequest } from '../../../adapters/metrics/requests.js';
import { isId } from '../../../domain/ids.js';
import { keyIdOf, type ApiState } from '../../context.js';

/**
 * Writes one line per request: what was asked, by whom, of which rental, and how it went. No query, cookies, keys,
 * codes or bodies.
 * @param observe is told of each request, for the metrics
 */
export function requestLog(observe?: (request: AnsweredRequest) => void): Middleware<ApiState, object> {
  return async (ctx, next) => {
    const startMs = performance.now();
    await next();
    const elapsedMs = performance.now() - startMs;
    const { _matchedRoute: route, routeMatched } = ctx as Partial<RouterContext>;
    const isRouted = routeMatched === true && typeof route === 'string';
    observe?.({
      method: ctx.method,
      status: ctx.status,
      elapsedMs,
      route: isRouted ? route : undefined,
    });
    const rentalId = rentalIdOf(ctx);
    logOfPart(ctx.state.log, 'requests').info(
      {
        method: ctx.method,
        path: ctx.path.slice(0, PATH_MAX_CHARS),
        status: ctx.status,
        elapsedMs: Math.round(elapsedMs),
        ...whoAsked(ctx.state),
        ...(rentalId !== undefined && { rentalId }),
      },
      'request',
    );
  };
}

/** A stranger's path may have 16 KiB. */
const PATH_MAX_CHARS = 200;

function whoAsked(state: ApiState): object {
  const keyId = keyIdOf({ state });
  return { ...(state.caller && { userId: state.caller.userId }), ...(keyId !== undefined && { keyId }) };
}

/** The rental of a request: the one in its path, or the one that it opened. */
function rentalIdOf(ctx: object): string | undefined {
  const { params, body } = ctx as { params?: { id?: unknown }; body?: unknown };
  const opened = typeof body === 'object' && body !== null && 'id' in body ? body.id : undefined;
  return [params?.id, opened].find((id): id is string => typeof id === 'string' && isId('rent', id));
}
