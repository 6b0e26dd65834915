import * as declared from './describe-sign-in.js';
import { serve, type Handler } from '../http/serve.js';
import { findApiKeyOf } from '../../adapters/postgres/accounts/api-key-list.js';
import { findClosing } from '../../adapters/postgres/accounts/closings.js';
import { countFailedSignIn } from '../../adapters/postgres/accounts/failed-sign-ins.js';
import { linkIdentity } from '../../adapters/postgres/accounts/identities.js';
import { tryLoginCode } from '../../adapters/postgres/accounts/login-codes.js';
import type { UserId } from '../../domain/ids.js';
import {
  findBrowser,
  hashOfBrowser,
  isKnownFor,
  keepBrowser,
  rememberBrowser,
} from '../http/browser-cookie.js';
import { presentApiKey } from '../api-keys/present.js';
import { mailCode } from './code-mail.js';
import { callerOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import { clientOf } from '../http/middleware/client-address.js';
import { endSession, setSessionCookie } from '../http/middleware/session.js';
import { openSession } from './open-session.js';
import { freshUntil } from './refresh-proof.js';
import { tooManyCodes, wrongCode } from './sign-in-refusals.js';
import { readBody } from '../http/validation.js';

/**
 * Signing in by a mailed code, who is signed in, and signing out (spec: Authentication; decision 8, "One-time codes",
 * decision 9, "Session cookies", and decision 10, "The signed-in user").
 */
export function authRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.requestCode, requestCode(deps));
  serve(router, deps, declared.verifyCode, verifyCode(deps));
  serve(router, deps, declared.showMe, showMe(deps));
  serve(router, deps, declared.logOut, logOut(deps));
}

/**
 * Answers the same with or without an account, and whether or not the mailbox has had its share. An asker who is told
 * to wait learns of their own requests only (decision 84, "Shares of codes").
 */
function requestCode(deps: ApiDeps): Handler<typeof declared.requestCode> {
  return async (ctx) => {
    const email = readBody(ctx, declared.requestCodeSchema).email.toLowerCase();
    const browser = keepBrowser(ctx, deps);
    const request = await mailCode(deps, {
      email,
      clientAddress: clientOf(ctx.ip),
      browserHash: hashOfBrowser(browser),
      askedBy: (await isKnownFor(deps, browser, email)) ? 'known_browser' : 'anybody',
    });
    if (request.outcome === 'limited') throw tooManyCodes(request.retryAfterMs);
    return { ok: true };
  };
}

/**
 * Refuses a wrong code, a lapsed one and one that was never sent in the same words (decision 84, "Shares of codes").
 */
function verifyCode(deps: ApiDeps): Handler<typeof declared.verifyCode> {
  return async (ctx) => {
    const body = readBody(ctx, declared.verifyCodeSchema);
    const email = body.email.toLowerCase();
    const browser = findBrowser(ctx);
    // A wrong try must be counted, so the transaction commits whatever the verdict is.
    const signedIn = await deps.db.transaction(async (trx) => {
      const verdict = await tryLoginCode(trx, email, body.code, browser && hashOfBrowser(browser));
      if (!verdict.right) return undefined;
      const opened = await openSession(trx, ctx, deps, email, { by: 'code' });
      if (verdict.identity) await linkIdentity(trx, opened.user.id, verdict.identity);
      return opened;
    });
    if (!signedIn) {
      void countFailed(ctx, deps, email);
      throw wrongCode();
    }
    const { user, created, session } = signedIn;
    setSessionCookie(ctx, deps, session.token);
    await rememberBrowser(ctx, deps, email);
    ctx.set('Cache-Control', 'no-store');
    return {
      user: presentUser({ id: user.id, email: user.email, createdAt: user.created_at }),
      created,
      expiresAt: session.expiresAt.toISOString(),
    };
  };
}

/** Nobody waits for this: the answer's time must not show whether there is a user to count for. */
export async function countFailed(ctx: ApiContext, { db }: ApiDeps, email: string): Promise<void> {
  try {
    await countFailedSignIn(db, email);
  } catch (error) {
    ctx.state.log.warn({ err: error }, 'a sign-in that failed was not counted');
  }
}

/** Who asks. A key is told what it may do, too. */
function showMe({ db }: ApiDeps): Handler<typeof declared.showMe> {
  return async (ctx) => {
    const caller = callerOf(ctx);
    const { userId: id, email, userCreatedAt: createdAt, expiresAt } = caller;
    const [key, closing] = await Promise.all([
      caller.kind === 'key' ? findApiKeyOf(db, id, caller.keyId) : undefined,
      findClosing(db, id),
    ]);
    return {
      user: presentUser({ id, email, createdAt }),
      expiresAt: expiresAt.toISOString(),
      freshUntil: caller.kind === 'session' ? freshUntil(caller) : null,
      closingSince: closing?.requested_at.toISOString() ?? null,
      ...(key && { apiKey: presentApiKey(key) }),
    };
  };
}

function logOut(deps: ApiDeps): Handler<typeof declared.logOut> {
  return async (ctx) => {
    await endSession(ctx, deps);
    return { ok: true };
  };
}

/** A user on read. */
export function presentUser(user: { id: UserId; email: string; createdAt: Date }) {
  return { id: user.id, email: user.email, createdAt: user.createdAt.toISOString() };
}
