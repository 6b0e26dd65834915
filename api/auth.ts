import type Joi from 'joi';
import { requestLoginCode, tryLoginCode } from '../adapters/postgres/login-codes.js';
import { insertMail } from '../adapters/postgres/outbox.js';
import type { UserId } from '../domain/ids.js';
import { limits } from '../domain/limits.js';
import { Refusal } from '../domain/refusal.js';
import { sessionOf, type ApiDeps, type ApiRouter } from './context.js';
import { clientOf } from './middleware/client-address.js';
import { endSession, requireSession, setSessionCookie, type Step } from './middleware/session.js';
import { openSession } from './open-session.js';
import { emailField, joi, readBody } from './validation.js';

/** Signing in by a mailed code, who is signed in, and signing out (spec: Authentication; decisions 8-10). */
export function authRoutes(router: ApiRouter, deps: ApiDeps): void {
  router.post('/v1/auth/request-code', requestCode(deps));
  router.post('/v1/auth/verify-code', verifyCode(deps));
  router.get('/v1/auth/me', requireSession(deps), showMe());
  router.post('/v1/auth/logout', requireSession(deps), logOut(deps));
}

export const requestCodeSchema: Joi.ObjectSchema<{ email: string; intent?: 'login' | 'signup' }> = joi.object(
  {
    email: emailField,
    intent: joi.string().valid('login', 'signup'),
  },
);

export const verifyCodeSchema: Joi.ObjectSchema<{ email: string; code: string }> = joi.object({
  email: emailField,
  code: joi
    .string()
    .pattern(/^\d{6}$/, 'six digits')
    .required(),
});

/** Answers the same whether or not there is an account. */
function requestCode(deps: ApiDeps): Step {
  return async (ctx) => {
    const address = readBody(ctx, requestCodeSchema).email.toLowerCase();
    const client = clientOf(ctx.ip);
    const request = await deps.db.transaction(async (trx) => {
      const made = await requestLoginCode(trx, address, client, deps.settings.codeRequestsPerClientPerHour);
      if (made.outcome === 'made') await insertMail(trx, codeMail(made.id, address, made.code));
      return made;
    });
    if (request.outcome === 'limited') throw tooManyCodes(request.retryAfterMs);
    ctx.body = { ok: true };
  };
}

function verifyCode(deps: ApiDeps): Step {
  return async (ctx) => {
    const body = readBody(ctx, verifyCodeSchema);
    const address = body.email.toLowerCase();
    // A wrong try must be counted, so the transaction ends well whatever the verdict is.
    const signedIn = await deps.db.transaction(async (trx) => {
      const verdict = await tryLoginCode(trx, address, body.code);
      return verdict === 'right' ? openSession(trx, ctx, address, { by: 'code' }) : verdict;
    });
    if (signedIn === 'expired') {
      throw new Refusal('code_expired', 'This code has expired. Ask for a new one.');
    }
    if (signedIn === 'wrong') {
      throw new Refusal('code_invalid', 'This code is not right. Check it, or ask for a new one.');
    }
    const { user, created, session } = signedIn;
    setSessionCookie(ctx, deps, session.token);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      user: presentUser({ id: user.id, email: user.email, createdAt: user.created_at }),
      created,
      expiresAt: session.expiresAt.toISOString(),
    };
  };
}

function showMe(): Step {
  return (ctx) => {
    const session = sessionOf(ctx);
    ctx.body = {
      user: presentUser({ id: session.userId, email: session.email, createdAt: session.userCreatedAt }),
      expiresAt: session.expiresAt.toISOString(),
    };
    return Promise.resolve();
  };
}

function logOut(deps: ApiDeps): Step {
  return async (ctx) => {
    await endSession(ctx, deps);
    ctx.body = { ok: true };
  };
}

/** A user on read. */
export function presentUser(user: { id: UserId; email: string; createdAt: Date }) {
  return { id: user.id, email: user.email, createdAt: user.createdAt.toISOString() };
}

function tooManyCodes(retryAfterMs: number): Refusal {
  const retryAfterSeconds = Math.ceil(retryAfterMs / 1000);
  return new Refusal(
    'code_request_rate_limited',
    `Too many codes were asked for. Look for the last mail, or try again in ${retryAfterSeconds} seconds.`,
    { retryAfterSeconds },
  );
}

/** The code stands in the body only, which is wiped once it is sent (decision 36). */
function codeMail(id: number, recipient: string, code: string) {
  return {
    cause: `code:${id}`,
    recipient,
    subject: 'Your sign-in code',
    body: [
      `Your sign-in code is ${code}.`,
      '',
      `It is valid for ${limits.codeValidMs / 60_000} minutes and can be used once.`,
      'If you did not ask for it, you can ignore this mail: nobody can sign in without the code.',
    ].join('\n'),
    wipeAfterSending: true,
  };
}
