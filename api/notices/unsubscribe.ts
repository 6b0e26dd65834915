import * as declared from './describe.js';
import type { Step } from '../http/middleware/session.js';
import { register } from '../http/serve.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { listSwitchedOff, switchNotices } from '../../adapters/postgres/notices/notice-settings.js';
import {
  readUnsubscribeToken,
  unsubscribePath,
  type UnsubscribeGrant,
} from '../../adapters/postgres/notices/unsubscribe-links.js';
import { auditEvent } from '../accounts/audit-event.js';
import type { ApiContext, ApiDeps, ApiRouter } from '../context.js';
import type { RawPath } from '../http/middleware/body.js';
import { showExpired, showOff, showQuestion, showUnknown } from './page.js';

/**
 * The link in a mail that switches such mails off, without signing in (RFC 8058). GET changes nothing: programs that
 * look for bad links in mails follow each one. POST does it, whatever its body: a mail program sends
 * `List-Unsubscribe=One-Click`, the page's button the same.
 */
export function unsubscribeRoutes(router: ApiRouter, deps: ApiDeps): void {
  register(router, deps, declared.askBeforeUnsubscribing, askFirst(deps));
  register(router, deps, declared.unsubscribe, switchOff(deps));
}

/**
 * The form's body is not read, and any origin may send it: the address itself is what permits it, and no cookie counts.
 * Browsers call our own page's origin `null`, because it tells no other site its address.
 */
export const unreadUnsubscribe: RawPath = {
  path: unsubscribePath,
  limitBytes: 4_096,
  fromAnyOrigin: true,
  refuseUnread: () => undefined,
};

function askFirst(deps: ApiDeps): Step {
  return async (ctx) => {
    const grant = await grantOf(ctx, deps);
    if (grant === undefined) return;
    const off = await listSwitchedOff(deps.db, grant.userId);
    if (off.has(grant.kind)) showOff(ctx, grant.kind);
    else showQuestion(ctx, grant.kind);
  };
}

function switchOff(deps: ApiDeps): Step {
  return async (ctx) => {
    const grant = await grantOf(ctx, deps);
    if (grant === undefined) return;
    const { userId, kind } = grant;
    await deps.db.transaction(async (trx) => {
      const changed = await switchNotices(trx, userId, { [kind]: false });
      if (Object.keys(changed).length === 0) return;
      const details = { ...changed, by: 'link' };
      await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'notices_changed', details }));
    });
    showOff(ctx, kind);
  };
}

/** Returns what the link permits; undefined for one that permits nothing, which is answered already. */
async function grantOf(ctx: ApiContext, { db }: ApiDeps): Promise<UnsubscribeGrant | undefined> {
  const { token } = ctx.query;
  const grant = typeof token === 'string' ? await readUnsubscribeToken(db, token) : undefined;
  if (grant === undefined) showUnknown(ctx);
  else if (grant === 'expired') showExpired(ctx);
  else return grant;
  return undefined;
}
