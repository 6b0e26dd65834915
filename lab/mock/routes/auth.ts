import { auditAddress } from '../../../api/accounts/audit-event.js';
import * as elsewhere from '../../../api/accounts/describe-oauth.js';
import * as declared from '../../../api/accounts/describe-sign-in.js';
import { seenFrom } from '../../../api/accounts/seen-from.js';
import { freshUntil } from '../../../api/accounts/refresh-proof.js';
import { presentUser } from '../../../api/accounts/auth.js';
import { callerOf, sessionOf, type ApiContext, type ApiRouter } from '../../../api/context.js';
import { setSessionCookie, takeSessionCookieBack } from '../../../api/http/middleware/session.js';
import { register, serve } from '../../../api/http/serve.js';
import { presentApiKey } from '../../../api/api-keys/present.js';
import { noSuchProvider } from '../../../api/accounts/oauth.js';
import { readBody } from '../../../api/http/validation.js';
import { writeAudit } from '../audit-trail.js';
import { endSession } from './sessions.js';
import { serveMock } from '../serve.js';
import { accountOf, cookieDeps, serveDeps } from '../signed-in.js';
import type { World } from '../world.js';

/** Signing in: the code is never sent, and any six digits are right. */
export function authRoutes(router: ApiRouter, world: World): void {
  const deps = serveDeps(world);
  serve(router, deps, declared.requestCode, (ctx) => {
    readBody(ctx, declared.requestCodeSchema);
    return { ok: true };
  });
  serve(router, deps, declared.verifyCode, (ctx) => {
    const { email } = readBody(ctx, declared.verifyCodeSchema);
    return openSession(world, ctx, email.toLowerCase(), 'code');
  });
  serveMock(router, world, declared.showMe, (ctx, { user, apiKeys, closingSince }) => {
    const caller = callerOf(ctx);
    const key = apiKeys.find(({ row }) => caller.kind === 'key' && row.id === caller.keyId);
    return {
      user: presentUser(user),
      expiresAt: caller.expiresAt.toISOString(),
      freshUntil: caller.kind === 'session' ? freshUntil(caller) : null,
      closingSince: closingSince?.toISOString() ?? null,
      ...(key && { apiKey: presentApiKey(key.row) }),
    };
  });
  serveMock(router, world, declared.logOut, (ctx, account) => {
    endSession(world, ctx, account, sessionOf(ctx).id, 'sign_out');
    takeSessionCookieBack(ctx, cookieDeps);
    return { ok: true };
  });
  // No provider is set up: the code is always right.
  serve(router, deps, elsewhere.listProviders, () => ({ providers: [] }));
  for (const operation of [elsewhere.startOAuth, elsewhere.finishOAuth]) {
    register(router, deps, operation, () => Promise.reject(noSuchProvider()));
  }
}

/** Signs somebody in, and ends the session that the browser came with. @returns what a sign-in answers */
export function openSession(world: World, ctx: ApiContext, email: string, by: 'code' | 'passkey') {
  const { caller: former } = ctx.state;
  if (former?.kind === 'session') endSession(world, ctx, accountOf(world, ctx), former.id, 'new_sign_in');
  const { account, created, session } = world.accounts.signIn(email, seenFrom(ctx));
  setSessionCookie(ctx, cookieDeps, session.token);
  // No API key signs in; one that came along may be another user's.
  writeAudit(world, account, {
    ...{ kind: 'signed_in', entity_id: session.row.id, details: { by } },
    ...{ api_key_id: null, client_address: auditAddress(ctx) ?? null },
  });
  world.events.tell(account.user.id, 'session.started', session.row.id, { by });
  ctx.set('Cache-Control', 'no-store');
  return { user: presentUser(account.user), created, expiresAt: session.row.expires_at.toISOString() };
}
