import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { createIdentityProviders } from '../../../adapters/identity/providers.js';
import type { IdentityProvider } from '../../../adapters/identity/identity.js';
import type { Browser, Page } from '../../support/http/browser.js';
import { ScriptedIssuer } from '../../support/service/scripted-provider.js';
import {
  callbackUrlOf,
  dashboardUrl,
  signInPage,
  SigningIn,
} from '../../support/http/signing-in-elsewhere.js';

const credentials = { clientId: 'client', clientSecret: 'secret-of-the-client' };

describe('signing in with a provider that is not to be trusted, or is down', () => {
  let issuer: ScriptedIssuer;
  let signing: SigningIn;
  let browser: Browser;
  const providers: IdentityProvider[] = [];

  before(async () => {
    issuer = await ScriptedIssuer.start();
    signing = await SigningIn.start(providers);
  });
  after(async () => {
    await signing.api.stop();
    await issuer.stop();
  });
  let usersBefore: unknown[];
  /** Gives each test providers that have not requested any metadata yet, and a correct issuer. */
  beforeEach(async () => {
    issuer.reset();
    use(issuer.url);
    browser = signing.browser();
    usersBefore = await signing.api.db('users').orderBy('id');
  });

  function use(googleIssuerUrl: string): void {
    const oidc = { ...credentials, issuerUrl: issuer.url, name: 'Test' };
    const made = createIdentityProviders(
      { google: credentials, github: null, oidc },
      { googleIssuerUrl, timeoutMs: 200 },
    );
    providers.splice(0, Infinity, ...made);
  }

  /** Begins a sign-in, and comes back with a code as if the person had agreed. */
  async function signIn(more: Record<string, string> = {}, provider = 'google'): Promise<Page> {
    const begun = new URL((await signing.begin(browser, provider)).location!);
    issuer.nonce = begun.searchParams.get('nonce')!;
    issuer.codeChallenge = begun.searchParams.get('code_challenge')!;
    const state = begun.searchParams.get('state')!;
    const query = new URLSearchParams({ code: 'code-of-the-issuer', state, ...more });
    return browser.get(`${callbackUrlOf(provider)}?${query.toString()}`);
  }

  async function assertFails(error: string, more: Record<string, string> = {}): Promise<void> {
    const page = await signIn(more);
    assert.deepEqual([page.status, page.location], [302, signInPage(error)]);
    signing.assertSignedOut(browser);
    assert.deepEqual(await signing.api.db('users').orderBy('id'), usersBefore);
  }

  it('signs in when everything is right', async () => {
    assert.equal((await signIn()).location, `${dashboardUrl}/app`);
    assert.equal(await signing.emailOf(browser), 'ann@example.com');
    const [exchange] = issuer.asked.filter(({ path }) => path === '/token');
    assert.equal(exchange!.form.get('redirect_uri'), callbackUrlOf('google'));
    const [scheme, basic = ''] = exchange!.headers.authorization!.split(' ');
    const sent = decodeURIComponent(Buffer.from(basic, 'base64').toString());
    assert.deepEqual([scheme, sent], ['Basic', 'client:secret-of-the-client']);
  });

  const claims: Record<string, Record<string, unknown>> = {
    'of another sign-in (nonce)': { nonce: 'another' },
    'without a nonce': { nonce: undefined },
    'of another issuer': { iss: 'https://evil.test' },
    'for another client': { aud: 'another' },
    'that has expired': { exp: Math.floor(Date.now() / 1000) - 300 },
  };
  for (const [what, wrong] of Object.entries(claims)) {
    it(`refuses an ID token ${what}`, async () => {
      issuer.claims = wrong;
      await assertFails('oauth_failed');
    });
  }

  it('refuses an ID token that another key signed, or none', async () => {
    issuer.signWith = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    await assertFails('oauth_failed');
    issuer.header = { alg: 'none' };
    await assertFails('oauth_failed');
  });

  it('refuses an answer that names another issuer (RFC 9207)', async () => {
    await assertFails('oauth_failed', { iss: 'https://evil.test' });
  });

  it('refuses metadata of another issuer', async () => {
    issuer.answers['/.well-known/openid-configuration'] = {
      body: { ...issuer.metadata(), issuer: 'https://evil.test' },
    };
    const page = await signing.begin(browser, 'google');
    assert.equal(page.location, signInPage('oauth_failed'));
  });

  it('takes nothing but true for verified', async () => {
    for (const email_verified of ['true', 1, undefined, false]) {
      issuer.claims = { email_verified };
      await assertFails('oauth_no_email');
    }
    issuer.claims = { email: undefined };
    await assertFails('oauth_no_email');
    issuer.claims = { email: ['ann@example.com'] };
    await assertFails('oauth_no_email');
  });

  it('does not take a sign-in of one provider for another', async () => {
    const begun = new URL((await signing.begin(browser, 'google')).location!);
    const state = begun.searchParams.get('state')!;
    const page = await browser.get(`${callbackUrlOf('oidc')}?code=x&state=${state}`);
    assert.equal(page.status, 401);
    signing.assertSignedOut(browser);
  });

  it('takes the address of the userinfo endpoint only if it is verified, and the same person’s', async () => {
    const email = 'ann@example.com';
    issuer.tellByUserInfo({ body: { sub: 'ann', email, email_verified: false } });
    await assertFails('oauth_no_email');
    issuer.tellByUserInfo({ body: { sub: 'somebody', email, email_verified: true } });
    await assertFails('oauth_failed');
    issuer.tellByUserInfo({ status: 503, body: {} });
    await assertFails('oauth_provider_unavailable');
    issuer.tellByUserInfo({ status: 401, body: {}, headers: { 'www-authenticate': 'Bearer' } });
    await assertFails('oauth_failed');
    issuer.tellByUserInfo({ body: { sub: 'ann', email, email_verified: true } });
    assert.equal((await signIn()).location, `${dashboardUrl}/app`);
  });

  it('refuses an answer without a code, or with another wrong part', async () => {
    for (const more of [{ code: '' }, { response: 'a.b.c' }, { error: 'no code of the standards' }]) {
      await assertFails('oauth_failed', more);
    }
    const begun = new URL((await signing.begin(browser, 'google')).location!);
    const state = begun.searchParams.get('state')!;
    const page = await browser.get(`${callbackUrlOf('google')}?code=a&code=b&state=${state}`);
    assert.equal(page.location, signInPage('oauth_failed'));
  });

  it('says so when the provider has a failure, is busy, or does not answer', async () => {
    const busy = [503, 429].map((status) => ({ status, body: {} }));
    for (const answer of [...busy, 'never', 'stalls', 'breaks'] as const) {
      issuer.reset();
      issuer.answers['/token'] = answer;
      await assertFails('oauth_provider_unavailable');
    }
    issuer.reset();
    await assertFails('oauth_provider_unavailable', { error: 'temporarily_unavailable' });
  });

  it('says so when our client is refused, and logs why without the data sent', async () => {
    issuer.answers['/token'] = {
      status: 401,
      body: { error: 'invalid_client', error_description: 'secret-text' },
    };
    await assertFails('oauth_failed');
    const log = JSON.stringify(signing.api.logged);
    assert.match(log, /"provider":"google","fault":"refused","reason":"invalid_client"/);
    issuer.reset();
    issuer.claims = { nonce: 'another' };
    await assertFails('oauth_failed');
    const secrets = [
      'secret-text',
      'secret-of-the-client',
      'code-of-the-issuer',
      'token-of-the-issuer',
      'ann@',
    ];
    const all = JSON.stringify(signing.api.logged);
    assert.deepEqual(
      secrets.filter((secret) => all.includes(secret)),
      [],
    );
  });

  it('says so at the start when the provider is down, and works as soon as it is up', async () => {
    issuer.answers['/.well-known/openid-configuration'] = 'never';
    const page = await signing.begin(browser, 'google');
    assert.deepEqual([page.status, page.location], [302, signInPage('oauth_provider_unavailable')]);
    issuer.reset();
    assert.equal((await signIn()).location, `${dashboardUrl}/app`);
    const gone = await ScriptedIssuer.start();
    use(gone.url);
    await gone.stop();
    const nobody = await signing.begin(browser, 'google');
    assert.equal(nobody.location, signInPage('oauth_provider_unavailable'));
    assert.match(JSON.stringify(signing.api.logged), /"reason":"ECONNREFUSED"/);
  });

  it('asks the issuer for its metadata once, however many sign in', async () => {
    await Promise.all([1, 2, 3].map(() => signing.begin(signing.browser(), 'google')));
    await signIn();
    const asked = issuer.asked.filter(({ path }) => path === '/.well-known/openid-configuration');
    assert.equal(asked.length, 1);
  });
});
