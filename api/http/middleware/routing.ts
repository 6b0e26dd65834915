import type { Layer } from '@koa/router';
import type { Middleware } from 'koa';
import { Refusal } from '../../../domain/refusal.js';
import type { Access, ApiRouter, ApiState } from '../../context.js';
import type { Guard } from './caller.js';
import { groupedBy } from '../../../domain/grouped.js';
import { noSuchRoute, shortened } from '../not-found.js';

interface Route {
  readonly methods: readonly string[];
  /** Who may call it; undefined: anybody. */
  readonly access: Access | undefined;
  readonly matches: (path: string) => boolean;
}

/**
 * Refuses what nothing answers, before anything of the request is looked up or read: a path that exists with another
 * method is a 405 that says which, any other is a 404. It notes who may call the route.
 * @param router with all of its routes
 */
export function refuseUnrouted(router: ApiRouter): Middleware<ApiState, object> {
  const all = router.stack.map((layer) => ({
    path: layer.path,
    paramNames: layer.paramNames,
    ...routeOf(layer),
  }));
  const isPlain = (layer: { path: unknown; paramNames: readonly unknown[] }): boolean =>
    typeof layer.path === 'string' && layer.paramNames.length === 0 && !/[*{(:]/.test(layer.path);
  // Most paths are found at once; the others are tried one after the other.
  const plain = groupedBy(all.filter(isPlain), ({ path }) => path);
  const patterns = all.filter((layer) => !isPlain(layer));
  return (ctx, next) => {
    const { path, method } = ctx;
    const found = [...(plain.get(path) ?? []), ...patterns.filter((route) => route.matches(path))];
    const route = found.find(({ methods }) => methods.includes(method));
    if (route !== undefined) {
      ctx.state.access = route.access;
      return next();
    }
    if (found.length === 0) throw noSuchRoute(path);
    const methods = new Set(found.flatMap((each) => each.methods));
    ctx.set('Allow', [...methods, 'OPTIONS'].join(', '));
    if (method !== 'OPTIONS') {
      const use = [...methods].join(', ');
      const message = `${shortened(method)} is not supported at ${shortened(path)}. Use one of these: ${use}.`;
      throw new Refusal('method_not_allowed', message);
    }
    ctx.status = 204;
    return Promise.resolve();
  };
}

function routeOf(layer: Layer): Route {
  const steps = layer.stack as readonly Partial<Guard>[];
  return {
    methods: layer.methods,
    access: steps.find(({ access }) => access !== undefined)?.access,
    matches: (path) => layer.match(path),
  };
}
