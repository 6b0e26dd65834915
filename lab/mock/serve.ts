import type { ApiContext, ApiRouter } from '../../api/context.js';
import type { AnswerOf, Operation } from '../../api/http/openapi/operation.js';
import { register, serve, type Answered } from '../../api/http/serve.js';
import type { Account } from './account.js';
import { accountOf, serveDeps } from './signed-in.js';
import type { World } from './world.js';

/** Answers a route as it is declared, for the account that asks. */
export type MockHandler<O> = (ctx: ApiContext, account: Account) => Answered<AnswerOf<O>>;

/**
 * Registers a route as it is declared, as the service does (api/http/serve.ts), for a handler that is given the account.
 * What strangers may ask is registered with serve() itself.
 */
export function serveMock<Answer extends object>(
  router: ApiRouter,
  world: World,
  operation: Operation<Answer>,
  handler: NoInfer<(ctx: ApiContext, account: Account) => Answered<Answer>>,
): void {
  serve(router, serveDeps(world), operation, (ctx) => handler(ctx, accountOf(world, ctx)));
}

/** The same for a route whose answer is no JSON: a stream, a file. */
export function registerMock(
  router: ApiRouter,
  world: World,
  operation: Operation,
  handler: (ctx: ApiContext, account: Account) => void | Promise<void>,
): void {
  register(router, serveDeps(world), operation, async (ctx) => handler(ctx, accountOf(world, ctx)));
}
