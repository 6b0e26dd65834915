import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { listSwitchedOff, switchNotices } from '../../adapters/postgres/notices/notice-settings.js';
import { auditEvent } from '../accounts/audit-event.js';
import { callerOf, sessionOf, type ApiDeps, type ApiRouter } from '../context.js';
import { requireCaller, requireSession } from '../http/middleware/caller.js';
import type { Step } from '../http/middleware/session.js';
import { readBody } from '../http/validation.js';
import { noticesSchema, optionalOf, presentNotices } from './shapes.js';

/** What users are told by mail without having asked, and what of it they have switched off (decision 103, "Notices by mail"). */
export function noticeRoutes(router: ApiRouter, deps: ApiDeps): void {
  router.get('/v1/notices', requireCaller(deps, 'read'), showNotices(deps));
  router.put('/v1/notices', requireSession(deps), putNotices(deps));
}

function showNotices({ db }: ApiDeps): Step {
  return async (ctx) => {
    ctx.body = presentNotices(await listSwitchedOff(db, callerOf(ctx).userId));
  };
}

function putNotices({ db }: ApiDeps): Step {
  return async (ctx) => {
    const wanted = optionalOf(readBody(ctx, noticesSchema));
    const { userId } = sessionOf(ctx);
    ctx.body = await db.transaction(async (trx) => {
      const changed = await switchNotices(trx, userId, wanted);
      if (Object.keys(changed).length > 0) {
        await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'notices_changed', details: changed }));
      }
      return presentNotices(await listSwitchedOff(trx, userId));
    });
  };
}
