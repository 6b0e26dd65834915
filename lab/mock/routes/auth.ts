import { presentUser, requestCodeSchema, verifyCodeSchema } from '../../../api/accounts/auth.js';
import { sessionOf, type ApiContext, type ApiRouter } from '../../../api/context.js';
import { setSessionCookie, takeSessionCookieBack } from '../../../api/http/middleware/session.js';
import { noSuchProvider } from '../../../api/accounts/oauth.js';
import { readBody } from '../../../api/http/validation.js';
import type { SessionEndedBy } from '../../../domain/events/events.js';
import type { UserId } from '../../../domain/ids.js';
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
      endSession(world, ctx, former.account.user.id, former.session.tokenHash, 'new_sign_in');
      note(world, ctx, former.account, 'signed_out');
    }
    const { account, created, token, expiresAt } = world.accounts.signIn(email.toLowerCase());
    setSessionCookie(ctx, cookieDeps, token);
    note(world, ctx, account, 'signed_in');
    world.events.tell(account.user.id, 'session.started', account.user.id, { by: 'code' });
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
      endSession(world, ctx, account.user.id, sessionOf(ctx).tokenHash, 'sign_out');
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

function endSession(
  world: World,
  ctx: ApiContext,
  userId: UserId,
  tokenHash: Buffer,
  by: SessionEndedBy,
): void {
  world.accounts.signOut(tokenOf(ctx));
  world.events.tell(userId, 'session.ended', userId, { by });
  world.events.endSession(userId, tokenHash);
}
