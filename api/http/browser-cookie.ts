import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { getInstallationKey } from '../../adapters/postgres/wallets/installation-keys.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import type { ApiContext, ApiDeps } from '../context.js';
import { appendCookie } from './middleware/session.js';

/**
 * A browser that asked for a code, or in which somebody has signed in before (decision 84, "Shares of codes"). Its
 * cookie holds 256 random bits, and browsers send it to the routes of sign-ins alone. It signs nobody in.
 */
export interface Browser {
  readonly token: string;
  /** Shows who has signed in with it. A key of this installation makes it, so that no table keeps it. */
  readonly mark: string | undefined;
}

const COOKIE = 'browser';
const FORM = /^(?<token>[A-Za-z0-9_-]{43})(?:\.(?<mark>[A-Za-z0-9_-]{43}))?$/;

/** The browser of a request; undefined when its cookie is missing or none of ours. */
export function findBrowser(ctx: ApiContext): Browser | undefined {
  const { token, mark } = FORM.exec(ctx.cookies.get(COOKIE) ?? '')?.groups ?? {};
  return token === undefined ? undefined : { token, mark };
}

/**
 * Returns the browser of a request. A browser without a cookie gets one for as long as a code is valid. An existing
 * cookie stays the same, so that a browser that asks again goes on with its code.
 */
export function keepBrowser(ctx: ApiContext, deps: ApiDeps): Browser {
  const browser = findBrowser(ctx) ?? { token: newToken(), mark: undefined };
  // A known browser keeps its cookie for longer than that.
  if (browser.mark === undefined) setCookie(ctx, deps, browser.token, accountLimits.codeValidMs);
  return browser;
}

/** The hash of a browser, which is kept with the codes that it asked for. */
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
 * Makes a browser known for an address that has just signed in with it. The token is new, so a token that somebody else
 * put into the browser is worth nothing to them.
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

/**
 * Sets the cookie. Its path is the one that browsers see; it is longer than ours behind a proxy that serves us in a
 * folder.
 */
function setCookie(ctx: ApiContext, deps: ApiDeps, value: string, maxAgeMs: number): void {
  const path = new URL(`${deps.settings.publicUrl}/v1/auth`).pathname;
  appendCookie(ctx, deps, { name: COOKIE, value, path, maxAgeMs });
}
