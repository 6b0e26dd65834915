import { unsubscribePath } from '../../../adapters/postgres/notices/unsubscribe-links.js';
import type { ApiRouter } from '../../../api/context.js';
import { readBody } from '../../../api/http/validation.js';
import { showUnknown } from '../../../api/notices/page.js';
import { noticesSchema, optionalOf, presentNotices } from '../../../api/notices/shapes.js';
import type { OptionalKind } from '../../../domain/notices/kinds.js';
import { note, signedIn } from '../signed-in.js';
import type { World } from '../world.js';

/** What users are told without having asked. The mock mails nothing, so no link of its own leads to it. */
export function noticeRoutes(router: ApiRouter, world: World): void {
  router.get(
    '/v1/notices',
    signedIn(world, (ctx, { noticesOff }) => {
      ctx.body = presentNotices(noticesOff);
    }),
  );
  router.put(
    '/v1/notices',
    signedIn(world, (ctx, account) => {
      const { noticesOff } = account;
      const wanted = Object.entries(optionalOf(readBody(ctx, noticesSchema))) as [OptionalKind, boolean][];
      const changed = wanted.filter(([kind, on]) => on === noticesOff.has(kind));
      for (const [kind, on] of changed) {
        if (on) noticesOff.delete(kind);
        else noticesOff.add(kind);
      }
      if (changed.length > 0) note(world, ctx, account, 'notices_changed', null, Object.fromEntries(changed));
      ctx.body = presentNotices(noticesOff);
    }),
  );
  router.get(unsubscribePath, showUnknown);
  router.post(unsubscribePath, showUnknown);
}
