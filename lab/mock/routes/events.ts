import { readEventsQuery, readStreamQuery } from '../../../api/events/query.js';
import { beginStream, holderOf, presentPage, refuseForeignPages } from '../../../api/events/routes.js';
import { callerOf, type ApiRouter } from '../../../api/context.js';
import { signedIn } from '../signed-in.js';
import type { World } from '../world.js';

/** The feed of events, by pages and as a stream: both live, from memory. */
export function eventRoutes(router: ApiRouter, world: World): void {
  router.get(
    '/v1/events',
    signedIn(world, (ctx, { user }) => {
      const selection = readEventsQuery(ctx);
      ctx.body = presentPage(world.events.read(user.id, selection), selection.after);
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
      world.events.open({ ...start, userId: caller.userId, holder: holderOf(caller) }, ctx.res, () => {
        beginStream(ctx);
        ctx.respond = false;
      });
    }),
  );
}
