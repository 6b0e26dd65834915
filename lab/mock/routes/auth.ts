import { presentUser, requestCodeSchema, verifyCodeSchema } from '../../../api/accounts/auth.js';
import { sessionOf, type ApiRouter } from '../../../api/context.js';
import { setSessionCookie, takeSessionCookieBack } from '../../../api/http/middleware/session.js';
import { noSuchProvider } from '../../../api/accounts/oauth.js';
import { readBody } from '../../../api/http/validation.js';
import { cookieDeps, note, signedIn, tokenOf } from '../signed-in.js';
import type { World } from '../world.js';

/** Signing in: the code is never sent, and any six digits are right. */
export function authRoutes(router: ApiRouter, world: World): void {
  router.post('/v1/auth/request-code', (ctx) => {
    readBody(ctx, requestCodeSchema);
    ctx.body = { ok: true };
  });
  router.post('/v1/auth/verify-code', (ctx) => {
    const { email } = readBody(ctx, verifyCodeSchema);
    const former = world.accounts.find(tokenOf(ctx));
    if (former) {
      world.accounts.signOut(tokenOf(ctx));
      note(world, ctx, former.account, 'signed_out');
    }
    const { account, created, token, expiresAt } = world.accounts.signIn(email.toLowerCase());
    setSessionCookie(ctx, cookieDeps, token);
    note(world, ctx, account, 'signed_in');
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { user: presentUser(account.user), created, expiresAt: expiresAt.toISOString() };
  });
  router.get(
    '/v1/auth/me',
    signedIn(world, (ctx, { user }) => {
      ctx.body = { user: presentUser(user), expiresAt: sessionOf(ctx).expiresAt.toISOString() };
    }),
  );
  router.post(
    '/v1/auth/logout',
    signedIn(world, (ctx, account) => {
      world.accounts.signOut(tokenOf(ctx));
      takeSessionCookieBack(ctx, cookieDeps);
      note(world, ctx, account, 'signed_out');
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
