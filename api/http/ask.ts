import type { ApiContext, ApiRouter } from '../context.js';
import type { Operation } from './openapi/operation.js';

/** What a route is asked with. */
export interface Asked {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** Asks a route that reads, and gives its answer. */
export type Ask = <Answer>(operation: Operation<Answer>, asked?: Asked) => Promise<Answer>;

/**
 * Asks other routes for the caller of a request: they answer what that caller would read there. The headers of such an
 * answer go nowhere. Who may call is what the asking route has to see to.
 */
export function asking(router: ApiRouter, ctx: ApiContext): Ask {
  return async <Answer>({ path }: Operation<Answer>, asked: Asked = {}) => {
    const step = router.stack
      .find((layer) => layer.path === path && layer.methods.includes('GET'))
      ?.stack.at(-1);
    if (!step) throw new Error(`no route reads ${path}`);
    const inner = innerContext(ctx, path, asked);
    await step(inner, () => Promise.resolve());
    return inner.body as Answer;
  };
}

/** The context of a request within a request: what is read of it is its own, and what is set stays with it. */
function innerContext(ctx: ApiContext, path: string, { params = {}, query = {} }: Asked): ApiContext {
  const own = (value: unknown): PropertyDescriptor => ({ value, writable: true });
  const request: unknown = Object.create(ctx.request, {
    ...{ method: own('GET'), query: own(query), querystring: own('') },
  });
  const response = { set: () => undefined, attachment: () => undefined };
  return Object.create(ctx, {
    ...{ request: own(request), response: own(response), params: own(params), _matchedRoute: own(path) },
  }) as ApiContext;
}
