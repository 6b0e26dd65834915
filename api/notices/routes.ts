import * as declared from './describe.js';
import { serve, type Handler } from '../http/serve.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { listSwitchedOff, switchNotices } from '../../adapters/postgres/notices/notice-settings.js';
import { auditEvent } from '../accounts/audit-event.js';
import { callerOf, sessionOf, type ApiDeps, type ApiRouter } from '../context.js';
import { readBody } from '../http/validation.js';
import { noticesSchema, optionalOf, presentNotices } from './shapes.js';

/** What users are told by mail without having asked, and what of it they have switched off (decision 103, "Notices by mail"). */
export function noticeRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.showNotices, showNotices(deps));
  serve(router, deps, declared.saveNotices, putNotices(deps));
}

function showNotices({ db }: ApiDeps): Handler<typeof declared.showNotices> {
  return async (ctx) => {
    return presentNotices(await listSwitchedOff(db, callerOf(ctx).userId));
  };
}

function putNotices({ db }: ApiDeps): Handler<typeof declared.saveNotices> {
  return async (ctx) => {
    const wanted = optionalOf(readBody(ctx, noticesSchema));
    const { userId } = sessionOf(ctx);
    return await db.transaction(async (trx) => {
      const changed = await switchNotices(trx, userId, wanted);
      if (Object.keys(changed).length > 0) {
        await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'notices_changed', details: changed }));
      }
      return presentNotices(await listSwitchedOff(trx, userId));
    });
  };
}
