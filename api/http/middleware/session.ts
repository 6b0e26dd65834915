import { insertAuditEvent } from '../../../adapters/postgres/accounts/audit-events.js';
import { deleteSession } from '../../../adapters/postgres/accounts/sessions.js';
import { accountLimits } from '../../../domain/accounts/limits.js';
import { auditEvent } from '../../accounts/audit-event.js';
import type { ApiContext, ApiDeps } from '../../context.js';
import { sessionOf } from '../../context.js';
import type { ApiSettings } from '../../settings.js';

/** A middleware of the router: it runs for routes that name it. */
export type Step = (ctx: ApiContext, next: () => Promise<unknown>) => Promise<void>;

/** The settings that the cookie depends on. */
export interface CookieDeps {
  readonly settings: Pick<ApiSettings, 'secureCookie'>;
}

/** Hands the session to the browser (decision 9, "Session cookies"). */
export function setSessionCookie(ctx: ApiContext, deps: CookieDeps, token: string): void {
  appendCookie(ctx, deps, sessionCookie(token, accountLimits.sessionMs));
}

/** Ends the request's session for good and takes its cookie back. */
export async function endSession(ctx: ApiContext, deps: ApiDeps): Promise<void> {
  const { tokenHash, userId, id: entityId } = sessionOf(ctx);
  await deps.db.transaction(async (trx) => {
    await deleteSession(trx, tokenHash, 'sign_out');
    await insertAuditEvent(trx, auditEvent(ctx, { userId, kind: 'signed_out', entityId }));
  });
  takeSessionCookieBack(ctx, deps);
}

/** Tells the browser to forget the session. */
export function takeSessionCookieBack(ctx: ApiContext, deps: CookieDeps): void {
  ctx.remove('Set-Cookie');
  appendCookie(ctx, deps, sessionCookie('', 0));
}

function sessionCookie(value: string, maxAgeMs: number): Cookie {
  return { name: 'sid', value, path: '/', maxAgeMs };
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly maxAgeMs: number;
}

/** Hands a cookie to the browser. No script reads it, and requests of other sites carry it by navigation only. */
export function appendCookie(ctx: ApiContext, deps: CookieDeps, cookie: Cookie): void {
  const attributes = [`Path=${cookie.path}`, `Max-Age=${cookie.maxAgeMs / 1000}`, 'HttpOnly', 'SameSite=Lax'];
  const secure = deps.settings.secureCookie ? ['Secure'] : [];
  ctx.append('Set-Cookie', [`${cookie.name}=${cookie.value}`, ...attributes, ...secure].join('; '));
}
