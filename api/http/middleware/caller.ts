import type { Middleware } from 'koa';
import type { FoundApiKey } from '../../../adapters/postgres/accounts/api-keys.js';
import { refusalOfKey } from '../../../domain/accounts/api-key-refusals.js';
import type { ApiKeyScope } from '../../../domain/accounts/api-keys.js';
import { Refusal } from '../../../domain/refusal.js';
import { refuseClosedToCapped } from '../../spending/capped.js';
import type { Access, ApiContext, ApiState } from '../../context.js';
import { plainAddress } from './client-address.js';
import { setSessionCookie, type CookieDeps, type Step } from './session.js';

/** A middleware that lets some callers through: sessions, and keys with this scope. */
export type Guard = Step & { readonly access: Access };

/**
 * Lets only requests through whose live session limitRequests has found (spec: Authentication).
 * @throws Refusal session_required for a key: what it asks for is its owner's alone (decision 108, "API keys")
 */
export function requireSession(deps: CookieDeps): Guard {
  return guard(deps, 'session');
}

/**
 * Lets sessions through, and API keys that have this scope.
 * @throws Refusal key_scope for another key
 */
export function requireCaller(deps: CookieDeps, scope: ApiKeyScope): Guard {
  return guard(deps, scope);
}

function guard(deps: CookieDeps, access: Access): Guard {
  const step: Step = async (ctx, next) => {
    refuseUnless(ctx, access);
    refuseClosedToCapped(ctx, String(ctx._matchedRoute));
    // Nothing between us and a user may keep what they read.
    ctx.set('Cache-Control', 'no-store');
    await next();
    await renewCookie(ctx, deps);
  };
  return Object.assign(step, { access });
}

/**
 * Moves the cookie's expiry with the session's, where the session still has the token that this request came with: its
 * user may have shown anew who they are meanwhile, and this answer must not bring the former cookie back.
 */
async function renewCookie(ctx: ApiContext, deps: CookieDeps): Promise<void> {
  const { caller, sessionToken = '', holdsToken } = ctx.state;
  if (caller?.kind !== 'session' || !caller.renewed) return;
  if (ctx.headerSent || ctx.res.hasHeader('Set-Cookie')) return;
  // What was asked for is done, whatever becomes of the cookie.
  if (await holdsToken?.().catch(() => false)) setSessionCookie(ctx, deps, sessionToken);
}

/** Lets those through whom a guard lets through, and everybody who shows nothing to be known by. */
export function orStranger(guard: Guard): Step {
  return async (ctx, next) => {
    const { caller, refusedKey } = ctx.state;
    if (caller || refusedKey) await guard(ctx, next);
    else await next();
  };
}

/**
 * Refuses callers of a route who may not, before their body is read. It stands behind limitRequests; the route's own
 * guard looks again.
 */
export function refuseUncalled(): Middleware<ApiState, object> {
  return (ctx, next) => {
    if (ctx.state.access !== undefined) refuseUnless(ctx, ctx.state.access);
    return next();
  };
}

/** Refuses callers who may not: nobody known, a key that does not hold, and one without the scope. */
export function refuseUnless(ctx: { readonly state: ApiState }, access: Access): void {
  const { caller, refusedKey } = ctx.state;
  if (refusedKey) throw refusedKey;
  if (!caller) throw new Refusal('unauthorized', 'Sign in first: POST /v1/auth/request-code.');
  if (caller.kind === 'session') return;
  if (access === 'session') {
    throw new Refusal(
      'session_required',
      'API keys can’t do this, whatever their scopes. Sign in: POST /v1/auth/request-code.',
    );
  }
  if (caller.scopes.includes(access)) return;
  throw new Refusal(
    'key_scope',
    `This needs an API key with the scope ${access}. Create one with POST /v1/api-keys, or sign in.`,
    { scope: access, scopes: [...caller.scopes] },
  );
}

/** The text that a request sends as its API key; undefined without one. Other schemes are not ours, and say nothing. */
export function bearerOf(authorization: string): string | undefined {
  const [found, token = ''] = /^bearer(?: +(.*))?$/i.exec(authorization) ?? [];
  return found === undefined ? undefined : token;
}

/** The refusal of a key that does not hold. @param ip the client's address */
export function keyRefusal(found: Exclude<FoundApiKey, { is: 'live' }>, ip: string): Refusal {
  switch (found.is) {
    case 'unknown':
      return new Refusal(
        'key_unknown',
        'This API key does not exist. Check that you copied all of it: gpur_ and 36 characters.',
      );
    case 'elsewhere':
      return new Refusal(
        'key_address',
        'This API key is not allowed from this address. Its owner can allow it: PATCH /v1/api-keys/:id.',
        { address: plainAddress(ip) },
      );
    default:
      return refusalOfKey(found);
  }
}
