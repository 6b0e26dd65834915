import { deleteSession, findSession } from '../../adapters/postgres/sessions.js';
import { limits } from '../../domain/limits.js';
import { Refusal } from '../../domain/refusal.js';
import type { ApiContext, ApiDeps } from '../context.js';
import { sessionOf } from '../context.js';

/** A middleware of the router: it runs for routes that name it. */
export type Step = (ctx: ApiContext, next: () => Promise<unknown>) => Promise<void>;

/** Lets only requests with a live session through (spec: Authentication). */
export function requireSession(deps: ApiDeps): Step {
  return async (ctx, next) => {
    const token = ctx.cookies.get('sid') ?? '';
    const session = await findSession(deps.db, token);
    if (!session) throw new Refusal('unauthorized', 'Sign in first: POST /v1/auth/request-code.');
    ctx.state.session = session;
    // What one user reads must not be kept by anything between us and them.
    ctx.set('Cache-Control', 'no-store');
    if (session.renewed) setSessionCookie(ctx, deps, token);
    await next();
  };
}

/** Hands the session to the browser (decision 9). */
export function setSessionCookie(ctx: ApiContext, deps: ApiDeps, token: string): void {
  ctx.append('Set-Cookie', cookie(token, limits.sessionMs / 1000, deps.settings.secureCookie));
}

/** Ends the request's session for good and takes its cookie back. */
export async function endSession(ctx: ApiContext, deps: ApiDeps): Promise<void> {
  await deleteSession(deps.db, sessionOf(ctx).tokenHash);
  ctx.remove('Set-Cookie');
  ctx.append('Set-Cookie', cookie('', 0, deps.settings.secureCookie));
}

function cookie(value: string, maxAgeSeconds: number, secure: boolean): string {
  const attributes = ['Path=/', `Max-Age=${maxAgeSeconds}`, 'HttpOnly', 'SameSite=Lax'];
  return [`sid=${value}`, ...attributes, ...(secure ? ['Secure'] : [])].join('; ');
}
