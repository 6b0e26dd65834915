import type Joi from 'joi';
import { IdentityError, type IdentityFault, type IdentityProvider } from '../adapters/identity/identity.js';
import { insertOAuthState, takeOAuthState, type TakenSignIn } from '../adapters/postgres/oauth-states.js';
import { limits } from '../domain/limits.js';
import { Refusal } from '../domain/refusal.js';
import type { ApiContext, ApiDeps, ApiRouter } from './context.js';
import { appendCookie, setSessionCookie, type Step } from './middleware/session.js';
import { openSession } from './open-session.js';
import { emailField, joi, readQuery } from './validation.js';

/** Signing in with an account elsewhere (spec: Authentication; decisions 11, 57). */
export function oauthRoutes(router: ApiRouter, deps: ApiDeps): void {
  router.get('/v1/auth/providers', listProviders(deps));
  router.get(`${ROUTES}/:provider/start`, start(deps));
  router.get(`${ROUTES}/:provider/callback`, callBack(deps));
}

/** Ties a sign-in to the browser that began it. It is sent to the routes of sign-ins only. */
const COOKIE = 'oauth';
const ROUTES = '/v1/auth/oauth';

/** What the dashboard's sign-in page is told in `?error=`. */
type SignInFault = 'oauth_denied' | 'oauth_no_email' | 'oauth_provider_unavailable' | 'oauth_failed';

const faults: Readonly<Record<IdentityFault, SignInFault>> = {
  denied: 'oauth_denied',
  unavailable: 'oauth_provider_unavailable',
  refused: 'oauth_failed',
};

/** A path of the dashboard's own: what begins with two slashes names another host, and browsers take \ for /. */
export const startQuery: Joi.ObjectSchema<{ returnTo: string }> = joi.object({
  returnTo: joi
    .string()
    .max(2_000)
    .pattern(/^\/(?!\/)[!-[\]-~]*$/, 'a path of the dashboard')
    .default('/app'),
});

function listProviders(deps: ApiDeps): Step {
  return (ctx) => {
    ctx.body = { providers: deps.identityProviders.map(({ id, name }) => ({ id, name })) };
    return Promise.resolve();
  };
}

function start(deps: ApiDeps): Step {
  return async (ctx) => {
    const provider = providerOf(ctx, deps);
    const { returnTo } = readQuery(ctx, startQuery);
    if (!staysInDashboard(deps, returnTo)) throw leavesDashboard();
    const { browserToken, ...request } = await insertOAuthState(deps.db, provider.id, returnTo);
    const page = await attempt(ctx, provider, () =>
      provider.findSignInPage({ ...request, callbackUrl: callbackUrlOf(deps, provider) }),
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
    // Without a sign-in of this browser's own, nothing of the answer is looked at.
    const state = typeof ctx.query['state'] === 'string' ? ctx.query['state'] : '';
    const begun = await takeOAuthState(deps.db, provider.id, state, ctx.cookies.get(COOKIE) ?? '');
    if (!begun) throw stateMismatch();
    setBrowserCookie(ctx, deps, '');
    const email = await attempt(ctx, provider, () => askForEmail(ctx, deps, provider, { state, ...begun }));
    if ('fault' in email) {
      toSignInPage(ctx, deps, email.fault);
      return;
    }
    // What can't be mailed to is no address here, whoever has verified it. Looked at before it is made lower case: that
    // would turn some letters, as the sign of the kelvin, into ASCII, and so into somebody else's address.
    const address = emailField.validate(email.value);
    if (address.error) {
      toSignInPage(ctx, deps, 'oauth_no_email');
      return;
    }
    const { session } = await deps.db.transaction((trx) =>
      openSession(trx, ctx, address.value.toLowerCase(), { by: provider.id }),
    );
    setSessionCookie(ctx, deps, session.token);
    redirect(ctx, deps.settings.dashboardUrl + begun.returnPath);
  };
}

function askForEmail(
  ctx: ApiContext,
  deps: ApiDeps,
  provider: IdentityProvider,
  begun: TakenSignIn & { readonly state: string },
): Promise<string | undefined> {
  return provider.findVerifiedEmail({
    callbackUrl: callbackUrlOf(deps, provider),
    query: ctx.querystring,
    state: begun.state,
    codeVerifier: begun.codeVerifier,
    nonce: begun.nonce,
  });
}

/** A provider's fault is an answer: the person sees it on the sign-in page, and operators in the log. */
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
  return new Refusal(
    'not_found',
    'Nobody can sign in this way here. GET /v1/auth/providers lists the ways there are.',
  );
}

function callbackUrlOf(deps: ApiDeps, provider: IdentityProvider): string {
  return `${deps.settings.publicUrl}${ROUTES}/${provider.id}/callback`;
}

/** The path may hold `..`, and the dashboard may be no more than a folder of its host. */
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

/** The address that we come from holds a code and a state: it is told to nobody, and nobody keeps the answer. */
function redirect(ctx: ApiContext, url: string): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.redirect(url);
}

/**
 * SameSite=Lax: the callback is a navigation that comes from the provider's site. Its path is the one that browsers
 * see, which is longer than ours behind a proxy that serves us in a folder. An empty token ends the cookie.
 */
function setBrowserCookie(ctx: ApiContext, deps: ApiDeps, token: string): void {
  appendCookie(ctx, deps, {
    name: COOKIE,
    value: token,
    path: new URL(deps.settings.publicUrl + ROUTES).pathname,
    maxAgeMs: token === '' ? 0 : limits.oauthStateValidMs,
  });
}

function leavesDashboard(): Refusal {
  return new Refusal('validation_failed', 'The request is not right: returnTo must stay in the dashboard.', {
    fields: [{ field: 'returnTo', message: 'returnTo must stay in the dashboard' }],
  });
}

function stateMismatch(): Refusal {
  return new Refusal(
    'oauth_state_mismatch',
    'This sign-in was not begun in this browser, is over, or has taken too long. Begin it again.',
  );
}
