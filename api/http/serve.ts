import type { ApiContext, ApiRouter } from '../context.js';
import type { ApiSettings } from '../settings.js';
import { orStranger, requireCaller, requireSession } from './middleware/caller.js';
import type { Step } from './middleware/session.js';
import { deprecationHeaders, type AnswerOf, type Operation } from './openapi/operation.js';

/** What a handler returns for an answer without a body, such as a 304. */
export const withoutBody = Symbol('without a body');

/** Answers a route as it is declared. */
export type Handler<O> = (ctx: ApiContext) => Promise<AnswerOf<O> | typeof withoutBody>;

/** An answer, at once or later. */
export type Answered<Answer> = Answer | typeof withoutBody | Promise<Answer | typeof withoutBody>;

/** The settings that who may call depends on. */
interface ServeDeps {
  readonly settings: Pick<ApiSettings, 'secureCookie' | 'publicPrices'>;
}

/** Registers a route as it is declared: where it stands, who may call it, and what it answers. */
export function serve<Answer extends object>(
  router: ApiRouter,
  deps: ServeDeps,
  operation: Operation<Answer>,
  handler: NoInfer<(ctx: ApiContext) => Answered<Answer>>,
): void {
  register(router, deps, operation, async (ctx) => {
    const body = await handler(ctx);
    if (body !== withoutBody) ctx.body = body;
  });
}

/** The same for a route whose answer is no JSON: a stream, a file, a redirect. */
export function register(
  router: ApiRouter,
  deps: ServeDeps,
  { method, path, isPublic, scope, tellsPrices, deprecated }: Operation,
  step: Step,
): void {
  const guard = scope === undefined ? requireSession(deps) : requireCaller(deps, scope);
  const first = deprecated ? [tellDeprecation(deprecationHeaders(deprecated))] : [];
  if (isPublic) router[method](path, ...first, step);
  else {
    const open = tellsPrices && deps.settings.publicPrices;
    router[method](path, ...first, open ? orStranger(guard) : guard, step);
  }
}

/** A middleware that tells what is going with whatever the route answers. */
function tellDeprecation(headers: Record<string, string>): Step {
  return async (ctx, next) => {
    ctx.set(headers);
    await next();
  };
}
