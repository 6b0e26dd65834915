import * as declared from '../../../api/accounts/describe-audit.js';
import { presentAuditEvent } from '../../../api/accounts/audit.js';
import type { ApiRouter } from '../../../api/context.js';
import { isIdKey, numberOf, pageOf, readCursor } from '../../../api/http/cursor.js';
import { readQuery } from '../../../api/http/validation.js';
import { serveMock } from '../serve.js';
import type { World } from '../world.js';

/** Lists a user's actions on the account or its money, newest first. */
export function auditRoutes(router: ApiRouter, world: World): void {
  serveMock(router, world, declared.listAuditEvents, async (ctx, { audit }) => {
    const { kind, cursor, pageSize } = readQuery(ctx, declared.auditQuery);
    const before = await numberOf(readCursor(cursor, isIdKey('aud')), (id) =>
      Promise.resolve(audit.find((event) => event.id === id)?.no),
    );
    const events = audit.filter(
      (event) => event.no < (before ?? Infinity) && (kind === undefined || event.kind === kind),
    );
    const { page, nextCursor } = pageOf(events.toReversed(), pageSize, (event) => [event.id]);
    // Every code is right.
    return { events: page.map(presentAuditEvent), failedSignIns: [], nextCursor };
  });
}
