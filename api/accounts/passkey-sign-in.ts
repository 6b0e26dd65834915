import * as declared from './describe-passkeys.js';
import { serve, type Handler } from '../http/serve.js';
import {
  goesOn,
  readShown,
  relyingPartyOf,
  requestOptions,
  type ShownAnswer,
} from '../../adapters/identity/passkeys.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { insertChallenge, type ChallengeUse } from '../../adapters/postgres/accounts/passkey-challenges.js';
import {
  listPasskeys,
  lockPasskey,
  usePasskey,
  type OwnedPasskey,
} from '../../adapters/postgres/accounts/passkeys.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { noteForUser } from '../../adapters/postgres/notices/user-notices.js';
import { createExactCount } from '../../adapters/postgres/requests/request-counts.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import { HOUR } from '../../domain/durations.js';
import type { UserId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import { sessionOf, type ApiContext, type ApiDeps, type ApiRouter } from '../context.js';
import { findBrowser, hashOfBrowser, keepBrowser, rememberBrowser } from '../http/browser-cookie.js';
import { clientOf } from '../http/middleware/client-address.js';
import { setSessionCookie } from '../http/middleware/session.js';
import { readBody } from '../http/validation.js';
import { auditAddress } from './audit-event.js';
import { countFailed, presentUser } from './auth.js';
import { openSession } from './open-session.js';
import { noSuchPasskey, takeAnswered } from './passkeys.js';
import { renewSession, tellProved } from './refresh-proof.js';
import { wrongPasskey } from './sign-in-refusals.js';

/**
 * Signing in by a passkey, and showing anew by one whose a session is (decision 178, "Sign-in by passkey"). A mailed code does
 * both as well.
 */
export function passkeySignInRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.beginPasskeySignIn, beginSignIn(deps));
  serve(router, deps, declared.signInByPasskey, signIn(deps));
  serve(router, deps, declared.beginPasskeyProof, beginProof(deps));
  serve(router, deps, declared.proveByPasskey, prove(deps));
}

function beginSignIn(deps: ApiDeps): Handler<typeof declared.beginPasskeySignIn> {
  const begun = createExactCount(deps.db, 'passkeys', accountLimits.passkeySignInsPerClientPerHour, HOUR);
  const rp = relyingPartyOf(deps.settings.dashboardUrl);
  return async (ctx) => {
    const { allowed, resetMs } = await begun.count(clientOf(ctx.ip));
    if (!allowed) throw tooManySignIns(resetMs);
    const browserHash = hashOfBrowser(keepBrowser(ctx, deps));
    const challenge = await insertChallenge(deps.db, { purpose: 'sign_in', browserHash });
    ctx.set('Cache-Control', 'no-store');
    return requestOptions(rp, [], challenge);
  };
}

function signIn(deps: ApiDeps): Handler<typeof declared.signInByPasskey> {
  return async (ctx) => {
    const { credential } = readBody(ctx, declared.showPasskeySchema);
    const browser = findBrowser(ctx);
    if (!browser || (credential.response.userHandle ?? null) === null) throw wrongPasskey();
    const use = { purpose: 'sign_in', browserHash: hashOfBrowser(browser) } as const;
    const { user, session } = await withPasskey(ctx, deps, { credential, use }, (trx, { email }) =>
      openSession(trx, ctx, deps, email, { by: 'passkey' }),
    );
    setSessionCookie(ctx, deps, session.token);
    await rememberBrowser(ctx, deps, user.email);
    ctx.set('Cache-Control', 'no-store');
    return {
      user: presentUser({ id: user.id, email: user.email, createdAt: user.created_at }),
      created: false,
      expiresAt: session.expiresAt.toISOString(),
    };
  };
}

function beginProof(deps: ApiDeps): Handler<typeof declared.beginPasskeyProof> {
  const rp = relyingPartyOf(deps.settings.dashboardUrl);
  return async (ctx) => {
    const { id: sessionId, userId } = sessionOf(ctx);
    const has = await listPasskeys(deps.db, userId);
    if (has.length === 0) throw noSuchPasskey();
    return requestOptions(rp, has, await insertChallenge(deps.db, { purpose: 'proof', sessionId }));
  };
}

function prove(deps: ApiDeps): Handler<typeof declared.proveByPasskey> {
  return async (ctx) => {
    const { credential } = readBody(ctx, declared.showPasskeySchema);
    const { id: sessionId, userId } = sessionOf(ctx);
    const shown = { credential, use: { purpose: 'proof', sessionId }, userId } as const;
    const proved = await withPasskey(ctx, deps, shown, (trx, { id }) =>
      renewSession(trx, ctx, { passkeyId: id }),
    );
    return { freshUntil: tellProved(ctx, deps, proved) };
  };
}

/** What a browser shows, and for what. */
interface Shown {
  readonly credential: ShownAnswer;
  readonly use: ChallengeUse;
  /** Whose passkey it must be; left out: anybody's. */
  readonly userId?: UserId;
}

/**
 * Does what a passkey is shown for, in the transaction that moves its counter on. The challenge is taken first, whatever
 * comes of it: nothing is tried twice.
 * @throws Refusal passkey_invalid, in the same words for whatever is not right
 */
async function withPasskey<T>(
  ctx: ApiContext,
  deps: ApiDeps,
  shown: Shown,
  act: (trx: Transaction, passkey: OwnedPasskey) => Promise<T>,
): Promise<T> {
  const challenge = await takeAnswered(deps, shown.credential, shown.use);
  const rp = relyingPartyOf(deps.settings.dashboardUrl);
  // What is told of a copy must stay, so the transaction commits although it is refused.
  const done = await deps.db.transaction(async (trx) => {
    const passkey = await lockPasskey(trx, Buffer.from(shown.credential.id, 'base64url'));
    const isTheirs = shown.userId === undefined || passkey?.user_id === shown.userId;
    if (!passkey || !isTheirs) return { refused: undefined };
    const read = await readShown(rp, challenge, shown.credential, passkey);
    if (!read) return { refused: passkey };
    if (!goesOn(read.counter, passkey.counter)) {
      await tellRefused(trx, ctx, passkey, read.counter);
      return { refused: passkey };
    }
    await usePasskey(trx, passkey.id, read);
    return { value: await act(trx, passkey) };
  });
  if ('value' in done) return done.value;
  if (done.refused) void countFailed(ctx, deps, done.refused.email);
  throw wrongPasskey();
}

/** Tells its user of a passkey whose counter went back: once for each counter that it should have passed. */
async function tellRefused(
  trx: Transaction,
  ctx: ApiContext,
  { id: passkeyId, user_id: userId, name, counter: before }: OwnedPasskey,
  counter: number,
): Promise<void> {
  ctx.state.log.warn({ passkeyId, counter, before }, 'the counter of a passkey went back');
  // Whoever shows it need not be its user: the request's session is not named.
  await insertAuditEvent(trx, {
    ...{ userId, kind: 'passkey_refused', details: { passkeyId, counter, before } },
    clientAddress: auditAddress(ctx),
  });
  const cause = { kind: 'passkey_refused', passkeyId, counter: before } as const;
  await noteForUser(trx, { userId, kind: 'passkey_refused', cause, facts: { passkeyId, name } });
}

function tooManySignIns(resetMs: number): Refusal {
  const retryAfterSeconds = Math.ceil(resetMs / 1_000);
  return new Refusal(
    'rate_limited',
    `Too many sign-ins with passkeys were begun from this address. Try again in ${retryAfterSeconds} seconds, or use a code that we email you.`,
    { retryAfterSeconds },
  );
}
