import { readEventsQuery, readStreamQuery } from '../../../api/events/query.js';
import { beginStream, holderOf, presentPage, refuseForeignPages } from '../../../api/events/routes.js';
import { callerOf, onlyOf, type ApiRouter } from '../../../api/context.js';
import { signedIn } from '../signed-in.js';
import type { World } from '../world.js';

/** The feed of events, by pages and as a stream: both live, from memory. */
export function eventRoutes(router: ApiRouter, world: World): void {
  router.get(
    '/v1/events',
    signedIn(world, (ctx, { user }) => {
      const selection = readEventsQuery(ctx);
      ctx.body = presentPage(
        world.events.read(user.id, { ...selection, onlyOf: onlyOf(ctx) }),
        selection.after,
      );
    }),
  );
  router.get(
    '/v1/events/stream',
    signedIn(world, (ctx) => {
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
    }),
  );
}
