import type { RouterContext } from '@koa/router';
import type { Middleware } from 'koa';
import { withinRequest } from '../../../adapters/tracing/origin.js';
import { spanned } from '../../../adapters/tracing/spans.js';
import type { ApiState } from '../../context.js';

/** Makes a span of each request, and lets what it leads to know its id. A stranger's own traceparent counts for nothing. */
export function traceRequests(): Middleware<ApiState, object> {
  return (ctx, next) =>
    withinRequest(ctx.state.requestId, () =>
      spanned('request', { kind: 'server', attributes: attributesOf(ctx) }, async (note) => {
        await next();
        const { _matchedRoute: route } = ctx as Partial<RouterContext>;
        note({
          'http.response.status_code': ctx.status,
          'http.route': typeof route === 'string' ? route : 'none',
        });
      }),
    );
}

function attributesOf(ctx: { readonly method: string; readonly state: ApiState }) {
  return { 'http.request.method': ctx.method, 'request.id': ctx.state.requestId };
}
