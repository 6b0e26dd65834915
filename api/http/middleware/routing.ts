import type { Middleware } from 'koa';
import type { RouterContext } from '@koa/router';
import { Refusal } from '../../../domain/refusal.js';
import type { ApiState } from '../../context.js';

/** Runs after the router: a path that exists with another method is a 405 that says which, any other is a 404. */
export function refuseUnrouted(): Middleware<ApiState, object> {
  return (ctx) => {
    const { routeMatched, matched } = ctx as Partial<Pick<RouterContext, 'routeMatched' | 'matched'>>;
    if (routeMatched === true) return;
    const methods = new Set((matched ?? []).flatMap((layer) => layer.methods));
    if (methods.size === 0) throw new Refusal('not_found', `There is nothing at ${shortened(ctx.path)}.`);
    ctx.set('Allow', [...methods, 'OPTIONS'].join(', '));
    if (ctx.method === 'OPTIONS') {
      ctx.status = 204;
      return;
    }
    throw new Refusal('method_not_allowed', `${ctx.method} is not possible at ${shortened(ctx.path)}.`);
  };
}

function shortened(path: string): string {
  return path.length <= 200 ? path : `${path.slice(0, 200)}…`;
}
