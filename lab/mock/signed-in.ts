import { auditAddress } from '../../api/accounts/audit-event.js';
import { keyIdOf, type ApiContext } from '../../api/context.js';
import { setSessionCookie, type Step } from '../../api/http/middleware/session.js';
import type { AuditKind } from '../../domain/accounts/audit.js';
import type { Account } from './account.js';
import { writeAudit } from './audit-trail.js';
import { refusalOf } from './refuse.js';
import type { World } from './world.js';

/** The API's settings that the cookie depends on: the mock speaks plain HTTP. */
export const cookieDeps = { settings: { secureCookie: false } };

/** Wraps a handler so that only signed-in users reach it (spec: Authentication). */
export function signedIn(
  world: World,
  handle: (ctx: ApiContext, account: Account) => void | Promise<void>,
): Step {
  return async (ctx) => {
    const token = tokenOf(ctx);
    const found = world.accounts.find(token);
    if (!found) throw refusalOf('unauthorized');
    ctx.state.caller = { kind: 'session', ...found.session };
    ctx.set('Cache-Control', 'no-store');
    if (found.session.renewed) setSessionCookie(ctx, cookieDeps, token);
    await handle(ctx, found.account);
  };
}

export function tokenOf(ctx: ApiContext): string {
  return ctx.cookies.get('sid') ?? '';
}

/** Records a user's action for the audit trail. */
export function note(
  world: World,
  ctx: ApiContext,
  account: Account,
  kind: AuditKind,
  entityId: string | null = null,
  details: Readonly<Record<string, unknown>> | null = null,
): void {
  writeAudit(world, account, {
    kind,
    entity_id: entityId,
    details,
    api_key_id: keyIdOf(ctx) ?? null,
    client_address: auditAddress(ctx) ?? null,
  });
}
