import { isIP } from 'node:net';
import { insertAuditEvent } from '../../../adapters/postgres/accounts/audit-events.js';
import { deleteSession, looksLikeSession } from '../../../adapters/postgres/accounts/sessions.js';
import { Refusal } from '../../../domain/refusal.js';
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
  if (sessionTokensOf(ctx.get('Cookie')).length > 1) takeAllSessionCookiesBack(ctx, deps);
  else appendCookie(ctx, deps, sessionCookie('', 0));
}

/** How many cookies of a session's name are looked at. */
const SESSIONS_LOOKED_AT = 4;

/**
 * The sessions that a browser shows. Another page of the same site may have set further cookies of that name, for a
 * folder or for all hosts of the domain, and the browser sends them all.
 * @param header the Cookie header
 */
export function sessionTokensOf(header: string): string[] {
  const values = header
    .split(';')
    .map((pair) => /^\s*sid\s*=\s*"?([^"]*?)"?\s*$/.exec(pair)?.[1])
    .filter((value) => value !== undefined && looksLikeSession(value));
  return [...new Set(values as string[])].slice(0, SESSIONS_LOOKED_AT);
}

/**
 * Finds the session that counts among those that a browser shows: the only living one, or the first where all are of one
 * user.
 * @returns 'clash' for living ones of several users: nobody can tell who asks
 */
export async function findOnlySession<Found>(
  tokens: readonly string[],
  find: (token: string, nth: number) => Promise<Found | undefined>,
  userOf: (found: Found) => string,
): Promise<{ readonly token: string; readonly found: Found } | 'clash' | undefined> {
  const living: { token: string; found: Found }[] = [];
  for (const [nth, token] of tokens.entries()) {
    const found = await find(token, nth);
    if (found !== undefined) living.push({ token, found });
  }
  return new Set(living.map(({ found }) => userOf(found))).size > 1 ? 'clash' : living[0];
}

/** The refusal of a browser that shows living sessions of several users; their cookies are taken back. */
export function refusalOfClash(ctx: CookieContext, deps: CookieDeps): Refusal {
  takeAllSessionCookiesBack(ctx, deps);
  return new Refusal('unauthorized', 'This browser was signed in as several users at once. Sign in again.');
}

/** Tells the browser to forget all its sessions, for whatever folder and domain they may have been set. */
function takeAllSessionCookiesBack(ctx: CookieContext, deps: CookieDeps): void {
  const folders = ctx.path.split('/').slice(1, FOLDERS_MAX);
  const above = folders.map((_folder, depth) => `/${folders.slice(0, depth + 1).join('/')}`);
  const paths = new Set(['/', '/v1', '/app', ...above.filter((path) => /^[\w/.-]+$/.test(path))]);
  for (const path of paths) {
    for (const domain of domainsOf(ctx.hostname))
      appendCookie(ctx, deps, { ...sessionCookie('', 0), path, domain });
  }
}

const FOLDERS_MAX = 4;
const DOMAINS_MAX = 4;

/** The domains for which a host may set a cookie; undefined: for itself alone. */
function domainsOf(hostname: string): (string | undefined)[] {
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(hostname) || isIP(hostname) !== 0) return [undefined];
  const labels = hostname.split('.');
  const above = labels.slice(0, -1).map((_label, depth) => labels.slice(depth).join('.'));
  return [undefined, ...above.slice(-DOMAINS_MAX)];
}

function sessionCookie(value: string, maxAgeMs: number): Cookie {
  return { name: 'sid', value, path: '/', maxAgeMs };
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly maxAgeMs: number;
  /** Default: the host alone. */
  readonly domain?: string | undefined;
}

/** What is asked of a request and its answer here. */
type CookieContext = Pick<ApiContext, 'append' | 'path' | 'hostname'>;

/** Hands a cookie to the browser. No script reads it, and requests of other sites carry it by navigation only. */
export function appendCookie(ctx: Pick<ApiContext, 'append'>, deps: CookieDeps, cookie: Cookie): void {
  const attributes = [`Path=${cookie.path}`, `Max-Age=${cookie.maxAgeMs / 1000}`, 'HttpOnly', 'SameSite=Lax'];
  const domain = cookie.domain === undefined ? [] : [`Domain=${cookie.domain}`];
  const secure = deps.settings.secureCookie ? ['Secure'] : [];
  ctx.append(
    'Set-Cookie',
    [`${cookie.name}=${cookie.value}`, ...attributes, ...domain, ...secure].join('; '),
  );
}
