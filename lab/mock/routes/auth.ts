import { requestCodeSchema, verifyCodeSchema } from '../../../api/accounts/describe-sign-in.js';
import { seenFrom } from '../../../api/accounts/seen-from.js';
import { freshUntil } from '../../../api/accounts/refresh-proof.js';
import { presentUser } from '../../../api/accounts/auth.js';
import { callerOf, sessionOf, type ApiContext, type ApiRouter } from '../../../api/context.js';
import {
  refusalOfClash,
  setSessionCookie,
  takeSessionCookieBack,
} from '../../../api/http/middleware/session.js';
import { presentApiKey } from '../../../api/api-keys/present.js';
import { noSuchProvider } from '../../../api/accounts/oauth.js';
import { readBody } from '../../../api/http/validation.js';
import { endSession } from './sessions.js';
import { cookieDeps, note, sessionAmong, signedIn } from '../signed-in.js';
import type { World } from '../world.js';

/** Signing in: the code is never sent, and any six digits are right. */
export function authRoutes(router: ApiRouter, world: World): void {
  router.post('/v1/auth/request-code', (ctx) => {
    readBody(ctx, requestCodeSchema);
    ctx.body = { ok: true };
  });
  router.post('/v1/auth/verify-code', async (ctx) => {
    const { email } = readBody(ctx, verifyCodeSchema);
    ctx.body = await openSession(world, ctx, email.toLowerCase(), 'code');
  });
  router.get(
    '/v1/auth/me',
    signedIn(world, (ctx, { user, apiKeys, closingSince }) => {
      const caller = callerOf(ctx);
      const key = apiKeys.find(({ row }) => caller.kind === 'key' && row.id === caller.keyId);
      ctx.body = {
        user: presentUser(user),
        expiresAt: caller.expiresAt.toISOString(),
        freshUntil: caller.kind === 'session' ? freshUntil(caller) : null,
        closingSince: closingSince?.toISOString() ?? null,
        ...(key && { apiKey: presentApiKey(key.row) }),
      };
    }),
  );
  router.post(
    '/v1/auth/logout',
    signedIn(world, (ctx, account) => {
      endSession(world, ctx, account, sessionOf(ctx).id, 'sign_out');
      takeSessionCookieBack(ctx, cookieDeps);
      ctx.body = { ok: true };
    }),
  );
  // No provider is set up: the code is always right.
  router.get('/v1/auth/providers', (ctx) => {
    ctx.body = { providers: [] };
  });
  router.get(['/v1/auth/oauth/:provider/start', '/v1/auth/oauth/:provider/callback'], () => {
    throw noSuchProvider();
  });
}

/** Signs somebody in, and ends the session that the browser came with. @returns what a sign-in answers */
export async function openSession(world: World, ctx: ApiContext, email: string, by: 'code' | 'passkey') {
  const former = await sessionAmong(world, ctx);
  if (former === 'clash') refusalOfClash(ctx, cookieDeps);
  else if (former) endSession(world, ctx, former.found.account, former.found.session.id, 'new_sign_in');
  const { account, created, session } = world.accounts.signIn(email, seenFrom(ctx));
  setSessionCookie(ctx, cookieDeps, session.token);
  note(world, ctx, account, 'signed_in', session.row.id, { by });
  world.events.tell(account.user.id, 'session.started', session.row.id, { by });
  ctx.set('Cache-Control', 'no-store');
  return { user: presentUser(account.user), created, expiresAt: session.row.expires_at.toISOString() };
}
