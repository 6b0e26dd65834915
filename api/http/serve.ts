import type { ApiContext, ApiRouter } from '../context.js';
import { requireCaller, requireSession } from './middleware/caller.js';
import type { CookieDeps } from './middleware/session.js';
import type { AnswerOf, Operation } from './openapi/operation.js';

/** Answers a route as it is declared. What goes out in another way (a stream, a file) leaves by `ctx`. */
export type Handler<O> = (ctx: ApiContext) => Promise<AnswerOf<O>>;

/** Registers a route as it is declared: where it stands, who may call it, and what it answers. */
export function serve<Answer>(
  router: ApiRouter,
  deps: CookieDeps,
  { method, path, isPublic, scope }: Operation<Answer>,
  handler: (ctx: ApiContext) => Promise<Answer>,
): void {
  const guard = scope === undefined ? requireSession(deps) : requireCaller(deps, scope);
  const answer = async (ctx: ApiContext): Promise<void> => {
    const body = await handler(ctx);
    if (body !== undefined) ctx.body = body;
  };
  if (isPublic) router[method](path, answer);
  else router[method](path, guard, answer);
}
