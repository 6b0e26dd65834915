import { readEventsQuery, readStreamQuery } from '../../../api/events/query.js';
import { beginStream, holderOf, presentPage, refuseForeignPages } from '../../../api/events/routes.js';
import * as declared from '../../../api/events/describe.js';
import { callerOf, onlyOf, type ApiRouter } from '../../../api/context.js';
import { registerMock, serveMock } from '../serve.js';
import type { World } from '../world.js';

/** The feed of events, by pages and as a stream: both live, from memory. */
export function eventRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.listEvents, (ctx, { user }) => {
    const selection = readEventsQuery(ctx);
    return presentPage(world.events.read(user.id, { ...selection, onlyOf: onlyOf(ctx) }), selection.after);
  });
  registerMock(router, world, declared.streamEvents, (ctx) => {
    refuseForeignPages(ctx, world.allowedOrigins);
    const start = readStreamQuery(ctx);
    if (ctx.method === 'HEAD') {
      beginStream(ctx);
      return;
    }
    const caller = callerOf(ctx);
    const request = { ...start, userId: caller.userId, holder: holderOf(caller), onlyOf: onlyOf(ctx) };
    world.events.open(request, ctx.res, () => {
      beginStream(ctx);
      ctx.respond = false;
    });
  });
}
