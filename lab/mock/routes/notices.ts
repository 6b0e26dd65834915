import type { ApiRouter } from '../../../api/context.js';
import { readBody } from '../../../api/http/validation.js';
import { register } from '../../../api/http/serve.js';
import * as declared from '../../../api/notices/describe.js';
import { showUnknown } from '../../../api/notices/page.js';
import { noticesSchema, optionalOf, presentNotices } from '../../../api/notices/shapes.js';
import type { OptionalKind } from '../../../domain/notices/kinds.js';
import { serveMock } from '../serve.js';
import { note, serveDeps } from '../signed-in.js';
import type { World } from '../world.js';

/** What users are told without having asked. The mock mails nothing, so no link of its own leads to it. */
export function noticeRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.showNotices, (_ctx, { noticesOff }) => presentNotices(noticesOff));
  serveMock(router, world, declared.saveNotices, (ctx, account) => {
    const { noticesOff } = account;
    const wanted = Object.entries(optionalOf(readBody(ctx, noticesSchema))) as [OptionalKind, boolean][];
    const changed = wanted.filter(([kind, on]) => on === noticesOff.has(kind));
    for (const [kind, on] of changed) {
      if (on) noticesOff.delete(kind);
      else noticesOff.add(kind);
    }
    if (changed.length > 0) note(world, ctx, account, 'notices_changed', null, Object.fromEntries(changed));
    return presentNotices(noticesOff);
  });
  for (const operation of [declared.askBeforeUnsubscribing, declared.unsubscribe]) {
    register(router, serveDeps(world), operation, (ctx) => {
      showUnknown(ctx);
      return Promise.resolve();
    });
  }
}
