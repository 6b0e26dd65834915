import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { getInstallationKey } from '../../adapters/postgres/wallets/installation-keys.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import type { ApiContext, ApiDeps } from '../context.js';
import { appendCookie } from './middleware/session.js';

/**
 * A browser that asked for a code, or in which somebody has signed in before (decision 84, "Shares of codes"): 256
 * random bits in a cookie that is sent to the routes of sign-ins alone. It signs nobody in.
 */
export interface Browser {
  readonly token: string;
  /** Who has signed in by it: shows it by a key of this installation, so that no table keeps it. */
  readonly mark: string | undefined;
}

const COOKIE = 'browser';
const FORM = /^(?<token>[A-Za-z0-9_-]{43})(?:\.(?<mark>[A-Za-z0-9_-]{43}))?$/;

/** The browser of a request; undefined where its cookie is missing or none of ours. */
export function findBrowser(ctx: ApiContext): Browser | undefined {
  const { token, mark } = FORM.exec(ctx.cookies.get(COOKIE) ?? '')?.groups ?? {};
  return token === undefined ? undefined : { token, mark };
}

/**
 * The browser of a request, which gets a cookie when it has none, for as long as a code is valid. The cookie stays the
 * same: one that asks again goes on with the code that it has.
 */
export function keepBrowser(ctx: ApiContext, deps: ApiDeps): Browser {
  const browser = findBrowser(ctx) ?? { token: newToken(), mark: undefined };
  // One that is known stays so for longer than that.
  if (browser.mark === undefined) setCookie(ctx, deps, browser.token, accountLimits.codeValidMs);
  return browser;
}

/** What is kept of a browser with the codes that it asked for. */
export function hashOfBrowser({ token }: Browser): Buffer {
  return createHash('sha256').update(`browser:${token}`).digest();
}

/** Tells whether this address has signed in with this browser before. */
export async function isKnownFor(deps: ApiDeps, { token, mark }: Browser, email: string): Promise<boolean> {
  if (mark === undefined) return false;
  const expected = Buffer.from(await markOf(deps, token, email));
  return timingSafeEqual(expected, Buffer.from(mark));
}

/**
 * Lets a browser be known for an address that has just signed in with it. The token is a new one, so that one which
 * somebody else put into the browser is worth nothing to them.
 */
export async function rememberBrowser(ctx: ApiContext, deps: ApiDeps, email: string): Promise<void> {
  const token = newToken();
  setCookie(ctx, deps, `${token}.${await markOf(deps, token, email)}`, accountLimits.browserKnownMs);
}

async function markOf({ db }: ApiDeps, token: string, email: string): Promise<string> {
  const { key } = await getInstallationKey(db, 'known_browsers');
  return createHmac('sha256', key).update(`${token}:${email}`).digest('base64url');
}

function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Its path is the one that browsers see, which is longer than ours behind a proxy that serves us in a folder. */
function setCookie(ctx: ApiContext, deps: ApiDeps, value: string, maxAgeMs: number): void {
  const path = new URL(`${deps.settings.publicUrl}/v1/auth`).pathname;
  appendCookie(ctx, deps, { name: COOKIE, value, path, maxAgeMs });
}
