import { auditQuery, presentAuditEvent } from '../../../api/audit.js';
import type { ApiRouter } from '../../../api/context.js';
import { isNumberKey, pageOf, readCursor } from '../../../api/cursor.js';
import { readQuery } from '../../../api/validation.js';
import { signedIn } from '../signed-in.js';
import type { World } from '../world.js';

/** What a user did that touches the account or its money, newest first. */
export function auditRoutes(router: ApiRouter, world: World): void {
  router.get(
    '/v1/audit',
    signedIn(world, (ctx, { audit }) => {
      const { kind, cursor, pageSize } = readQuery(ctx, auditQuery);
      const before = readCursor(cursor, isNumberKey)?.[0] ?? Infinity;
      const events = audit.filter(
        (event) => event.no < before && (kind === undefined || event.kind === kind),
      );
      const { page, nextCursor } = pageOf(events.toReversed(), pageSize, (event) => [event.no]);
      ctx.body = { events: page.map(presentAuditEvent), nextCursor };
    }),
  );
}
