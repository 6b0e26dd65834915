import * as declared from './describe-oauth.js';
import { register, serve, type Handler } from '../http/serve.js';
import {
  IdentityError,
  type IdentityFault,
  type IdentityProvider,
  type VerifiedIdentity,
} from '../../adapters/identity/identity.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { findUserOfIdentity, linkIdentity } from '../../adapters/postgres/accounts/identities.js';
import {
  insertOAuthState,
  takeOAuthState,
  type TakenSignIn,
} from '../../adapters/postgres/accounts/oauth-states.js';
import { findOrInsertUser } from '../../adapters/postgres/accounts/users.js';
import { accountLimits } from '../../domain/accounts/limits.js';
import { Refusal } from '../../domain/refusal.js';
import { hashOfBrowser, keepBrowser, rememberBrowser } from '../http/browser-cookie.js';
import { mailCode } from './code-mail.js';
import type { ApiContext, ApiDeps, ApiRouter } from '../context.js';
import { appendCookie, setSessionCookie, type Step } from '../http/middleware/session.js';
import { clientOf } from '../http/middleware/client-address.js';
import { newAccountFrom, openSession, type OpenedSession } from './open-session.js';
import { emailField } from '../http/fields.js';
import { noSuchThing } from '../http/not-found.js';
import { readQuery } from '../http/validation.js';

/**
 * Signing in with an account elsewhere (spec: Authentication; decision 11, "Sign-in elsewhere", decision 57, "Failed
 * sign-in elsewhere", and decision 85, "Linked accounts").
 */
export function oauthRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.listProviders, listProviders(deps));
  register(router, deps, declared.startOAuth, start(deps));
  register(router, deps, declared.finishOAuth, callBack(deps));
}

/** Ties a sign-in to the browser that began it. It is sent to the routes of sign-ins only. */
const COOKIE = 'oauth';
const ROUTES = '/v1/auth/oauth';

/** The `?error=` of the dashboard's sign-in page. */
type SignInFault = 'oauth_denied' | 'oauth_no_email' | 'oauth_provider_unavailable' | 'oauth_failed';

const faults: Readonly<Record<IdentityFault, SignInFault>> = {
  denied: 'oauth_denied',
  unavailable: 'oauth_provider_unavailable',
  refused: 'oauth_failed',
};

function listProviders(deps: ApiDeps): Handler<typeof declared.listProviders> {
  return () => Promise.resolve({ providers: deps.identityProviders.map(({ id, name }) => ({ id, name })) });
}

function start(deps: ApiDeps): Step {
  return async (ctx) => {
    const provider = providerOf(ctx, deps);
    const { returnTo, fresh: wantsFresh } = readQuery(ctx, declared.startQuery);
    if (!staysInDashboard(deps, returnTo)) throw leavesDashboard();
    const { browserToken, ...request } = await insertOAuthState(deps.db, provider.id, returnTo);
    ctx.state.passTurn?.();
    const page = await attempt(ctx, provider, () =>
      provider.findSignInPage({ ...request, wantsFresh, callbackUrl: callbackUrlOf(deps, provider) }),
    );
    if ('fault' in page) {
      toSignInPage(ctx, deps, page.fault);
      return;
    }
    setBrowserCookie(ctx, deps, browserToken);
    redirect(ctx, page.value.href);
  };
}

function callBack(deps: ApiDeps): Step {
  return async (ctx) => {
    const provider = providerOf(ctx, deps);
    // Without a sign-in that this browser began, nothing of the answer is read.
    const state = typeof ctx.query['state'] === 'string' ? ctx.query['state'] : '';
    const begun = await takeOAuthState(deps.db, provider.id, state, ctx.cookies.get(COOKIE) ?? '');
    if (!begun) throw stateMismatch();
    setBrowserCookie(ctx, deps, '');
    ctx.state.passTurn?.();
    const identity = await attempt(ctx, provider, () =>
      askForIdentity(ctx, deps, provider, { state, ...begun }),
    );
    if ('fault' in identity) {
      toSignInPage(ctx, deps, identity.fault);
      return;
    }
    const mailable = withMailableAddress(identity.value);
    if (!mailable) {
      toSignInPage(ctx, deps, 'oauth_no_email');
      return;
    }
    const signedIn = await deps.db.transaction((trx) =>
      signInBy(trx, ctx, deps, { provider, identity: mailable }),
    );
    if (!signedIn) {
      await askForConfirmation(ctx, deps, provider, mailable);
      return;
    }
    setSessionCookie(ctx, deps, signedIn.session.token);
    await rememberBrowser(ctx, deps, signedIn.user.email);
    redirect(ctx, deps.settings.dashboardUrl + begun.returnPath);
  };
}

/**
 * Drops an address that can't be mailed to, whoever has verified it. The check comes before the change to lower case,
 * which would turn some letters, as the sign of the kelvin, into ASCII, and so into somebody else's address.
 */
function withMailableAddress(identity: VerifiedIdentity | undefined): VerifiedIdentity | undefined {
  const isMailable = emailField.validate(identity?.email).error === undefined;
  return identity && isMailable ? { ...identity, email: identity.email.toLowerCase() } : undefined;
}

/**
 * Signs in the user to whom the account elsewhere is linked, whatever its address is now. Without a link, a new address
 * makes a new user; the owner of a known address must first confirm by a mailed code (decision 85, "Linked accounts").
 * @returns undefined when they must
 */
async function signInBy(
  trx: Transaction,
  ctx: ApiContext,
  deps: ApiDeps,
  { provider, identity }: { readonly provider: IdentityProvider; readonly identity: VerifiedIdentity },
): Promise<OpenedSession | undefined> {
  const linked = await findUserOfIdentity(trx, identity);
  if (!linked) {
    const { user, created } = await findOrInsertUser(trx, identity.email, newAccountFrom(ctx, deps));
    if (!created) return undefined;
    await linkIdentity(trx, user.id, identity);
  }
  return openSession(trx, ctx, deps, linked?.email ?? identity.email, {
    by: provider.id,
    // A provider may know the person from a month ago. It counts when they last showed it who they are.
    provedAt: identity.authenticatedAt ?? null,
  });
}

/**
 * Mails a code to the address and sends the browser to the sign-in page. The page verifies the code as any other (POST
 * /v1/auth/verify-code); in this browser that links the account. The address stands in the part of the page's URL that
 * is sent to no server.
 */
async function askForConfirmation(
  ctx: ApiContext,
  deps: ApiDeps,
  provider: IdentityProvider,
  { email, issuer, subject }: VerifiedIdentity,
): Promise<void> {
  await mailCode(
    deps,
    {
      email,
      identity: { issuer, subject },
      askedBy: 'identity',
      clientAddress: clientOf(ctx.ip),
      browserHash: hashOfBrowser(keepBrowser(ctx, deps)),
    },
    provider.name,
  );
  const page = `${deps.settings.dashboardUrl}/login?error=oauth_confirm#email=${encodeURIComponent(email)}`;
  redirect(ctx, page);
}

function askForIdentity(
  ctx: ApiContext,
  deps: ApiDeps,
  provider: IdentityProvider,
  begun: TakenSignIn & { readonly state: string },
): Promise<VerifiedIdentity | undefined> {
  return provider.findVerifiedIdentity({
    callbackUrl: callbackUrlOf(deps, provider),
    query: ctx.querystring,
    state: begun.state,
    codeVerifier: begun.codeVerifier,
    nonce: begun.nonce,
  });
}

/** Turns a provider's fault into an answer: the person sees it on the sign-in page, and operators see it in the log. */
async function attempt<T>(
  ctx: ApiContext,
  provider: IdentityProvider,
  ask: () => Promise<T>,
): Promise<{ value: T } | { fault: SignInFault }> {
  try {
    return { value: await ask() };
  } catch (error) {
    if (!(error instanceof IdentityError)) throw error;
    const { fault, reason } = error;
    if (fault !== 'denied') {
      ctx.state.log.warn({ provider: provider.id, fault, reason }, 'an identity provider failed a sign-in');
    }
    return { fault: faults[fault] };
  }
}

function providerOf(ctx: ApiContext, deps: ApiDeps): IdentityProvider {
  const provider = deps.identityProviders.find(({ id }) => id === ctx.params['provider']);
  if (provider) return provider;
  throw noSuchProvider();
}

/** The refusal of a way to sign in that is not set up. */
export function noSuchProvider(): Refusal {
  return noSuchThing('You can’t sign in this way here. GET /v1/auth/providers lists the ways you can.');
}

function callbackUrlOf(deps: ApiDeps, provider: IdentityProvider): string {
  return `${deps.settings.publicUrl}${ROUTES}/${provider.id}/callback`;
}

/** Tells whether a path stays below the dashboard: it may hold `..`, and the dashboard may be a folder of its host. */
function staysInDashboard(deps: ApiDeps, returnTo: string): boolean {
  const { dashboardUrl } = deps.settings;
  if (!URL.canParse(dashboardUrl + returnTo)) return false;
  const base = new URL(`${dashboardUrl}/`);
  const target = new URL(dashboardUrl + returnTo);
  return target.origin === base.origin && target.pathname.startsWith(base.pathname);
}

function toSignInPage(ctx: ApiContext, deps: ApiDeps, fault: SignInFault): void {
  redirect(ctx, `${deps.settings.dashboardUrl}/login?error=${fault}`);
}

/** Redirects. Our own address holds a code and a state: the browser tells it to nobody, and nobody keeps the answer. */
function redirect(ctx: ApiContext, url: string): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.redirect(url);
}

/**
 * Sets the cookie of a sign-in. SameSite=Lax: the callback is a navigation that comes from the provider's site. The
 * cookie's path is the one that browsers see; it is longer than ours behind a proxy that serves us in a folder. An
 * empty token ends the cookie.
 */
function setBrowserCookie(ctx: ApiContext, deps: ApiDeps, token: string): void {
  appendCookie(ctx, deps, {
    name: COOKIE,
    value: token,
    path: new URL(deps.settings.publicUrl + ROUTES).pathname,
    maxAgeMs: token === '' ? 0 : accountLimits.oauthStateValidMs,
  });
}

function leavesDashboard(): Refusal {
  return new Refusal('validation_failed', 'The request is invalid: returnTo must stay in the dashboard.', {
    fields: [{ field: 'returnTo', message: 'returnTo must stay in the dashboard' }],
  });
}

function stateMismatch(): Refusal {
  return new Refusal(
    'oauth_state_mismatch',
    'This sign-in was not started in this browser, is already done, or took too long. Start it again.',
  );
}
