import assert from 'node:assert/strict';
import { prune } from '../../../adapters/postgres/upkeep/retention.js';
import { retention } from '../../../domain/operations/retention.js';
import { createIdentityProviders } from '../../../adapters/identity/providers.js';
import type { Browser, Page } from '../../support/http/browser.js';
import { startIdentityProvider, type TestIdentityProvider } from '../../support/http/identity-provider.js';
import {
  callbackUrlOf,
  dashboardUrl,
  publicUrl,
  signInPage,
  SigningIn,
} from '../../support/http/signing-in-elsewhere.js';

describe('signing in with an OpenID Connect provider', () => {
  let provider: TestIdentityProvider;
  let signing: SigningIn;
  let persons = 0;

  before(async () => {
    provider = await startIdentityProvider(callbackUrlOf('oidc'));
    const { issuerUrl, clientId, clientSecret } = provider;
    signing = await SigningIn.start(
      createIdentityProviders({
        google: null,
        github: null,
        oidc: { issuerUrl, clientId, clientSecret, name: 'Test' },
      }),
    );
  });
  after(async () => {
    await signing.api.stop();
    await provider.stop();
  });

  /** A person whom the provider knows, with a login of their own. */
  function person(claims: { email?: string; email_verified?: boolean } = {}): string {
    persons += 1;
    const login = `person${persons}`;
    provider.people.set(login, { email: `${login}@example.com`, email_verified: true, ...claims });
    return login;
  }

  /** Fills in the provider's forms. The answer redirects to our callback, which is not visited yet. */
  async function agree(browser: Browser, begun: Page, login: string): Promise<Page> {
    const form = await browser.follow(begun, callbackUrlOf('oidc'));
    const loggedIn = await browser.post(form.url, { prompt: 'login', login, password: 'any' });
    const consent = await browser.follow(loggedIn, callbackUrlOf('oidc'));
    const agreed = await browser.post(consent.url, { prompt: 'consent' });
    return browser.follow(agreed, callbackUrlOf('oidc'));
  }

  async function signIn(browser: Browser, login: string, returnTo?: string): Promise<Page> {
    const agreed = await agree(browser, await signing.begin(browser, 'oidc', returnTo), login);
    return browser.get(agreed.location!);
  }

  function assertMismatch(page: Page): void {
    assert.equal(page.status, 401);
    assert.equal((JSON.parse(page.text) as { error: string }).error, 'oauth_state_mismatch');
    assert.deepEqual(page.headers.getSetCookie(), []);
  }

  it('makes a user with an empty wallet, and goes on in the dashboard', async () => {
    const browser = signing.browser();
    const login = person();
    const page = await signIn(browser, login);
    assert.deepEqual([page.status, page.location], [302, `${dashboardUrl}/app`]);
    assert.equal(page.headers.get('cache-control'), 'no-store');
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
    assert.match(
      page.headers.getSetCookie().join('\n'),
      /^sid=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/m,
    );
    assert.equal(await signing.emailOf(browser), `${login}@example.com`);
    const user = await signing.api
      .db('users')
      .where({ email: `${login}@example.com` })
      .first();
    const wallet = await signing.api.db('wallets').where({ user_id: user!.id }).first();
    assert.equal(wallet?.available_cents, 0);
  });

  it('sends the provider a code challenge, a state and a nonce, none of which is kept in clear or sent twice', async () => {
    const seen = new Set<string>();
    for (let times = 0; times < 2; times += 1) {
      const page = await signing.begin(signing.browser(), 'oidc');
      const { searchParams } = new URL(page.location!);
      assert.equal(searchParams.get('response_type'), 'code');
      assert.equal(searchParams.get('code_challenge_method'), 'S256');
      assert.equal(searchParams.get('redirect_uri'), callbackUrlOf('oidc'));
      assert.equal(searchParams.get('scope'), 'openid email');
      for (const name of ['state', 'nonce', 'code_challenge']) seen.add(searchParams.get(name)!);
      assert.match(
        page.headers.getSetCookie()[0]!,
        /^oauth=[A-Za-z0-9_-]{43}; Path=\/v1\/auth\/oauth; Max-Age=600; HttpOnly; SameSite=Lax$/,
      );
      const state = Buffer.from(searchParams.get('state')!, 'base64url');
      const rows = await signing.api.db('oauth_states').select('state_hash');
      assert.ok(rows.every((row) => !row.state_hash.equals(state)));
    }
    assert.equal(seen.size, 6);
  });

  it('asks the user of the same address for a mailed code first, however it is written', async () => {
    const { user } = await signing.api.signIn();
    const browser = signing.browser();
    const page = await signIn(browser, person({ email: user.email.toUpperCase() }));
    assert.equal(page.location, `${signInPage('oauth_confirm')}#email=${encodeURIComponent(user.email)}`);
    signing.assertSignedOut(browser);
  });

  it('takes the address of the userinfo endpoint when the ID token has none', async () => {
    const other = await startIdentityProvider(callbackUrlOf('oidc'), false);
    const { issuerUrl, clientId, clientSecret } = other;
    const oidc = { issuerUrl, clientId, clientSecret, name: 'Test' };
    const there = await SigningIn.start(createIdentityProviders({ google: null, github: null, oidc }));
    try {
      other.people.set('ann', { email: 'ann@example.com', email_verified: true });
      const browser = there.browser();
      const agreed = await agree(browser, await there.begin(browser, 'oidc'), 'ann');
      assert.equal((await browser.get(agreed.location!)).location, `${dashboardUrl}/app`);
      assert.equal(await there.emailOf(browser), 'ann@example.com');
    } finally {
      await there.api.stop();
      await other.stop();
    }
  });

  it('refuses an address that is not verified, and one that can’t be mailed to', async () => {
    const refused = [
      { email_verified: false },
      { email: 'nobody', email_verified: true },
      { email: 'jörg@example.com', email_verified: true },
      { email: '\u212Aate@example.com', email_verified: true },
    ];
    for (const claims of refused) {
      const browser = signing.browser();
      const page = await signIn(browser, person(claims));
      assert.equal(page.location, signInPage('oauth_no_email'), JSON.stringify(claims));
      signing.assertSignedOut(browser);
    }
    assert.deepEqual(await signing.api.db('users').whereIn('email', ['nobody', 'kate@example.com']), []);
  });

  it('tells that the person said no', async () => {
    const browser = signing.browser();
    const form = await browser.follow(await signing.begin(browser, 'oidc'), callbackUrlOf('oidc'));
    const denied = await browser.follow(await browser.get(`${form.url}/abort`), callbackUrlOf('oidc'));
    const page = await browser.get(denied.location!);
    assert.equal(page.location, signInPage('oauth_denied'));
    signing.assertSignedOut(browser);
  });

  it('refuses a state that is not the one it gave, or is missing or said twice', async () => {
    const browser = signing.browser();
    const agreed = await agree(browser, await signing.begin(browser, 'oidc'), person());
    const other = await signing.begin(signing.browser(), 'oidc');
    const right = new URL(agreed.location!);
    const state = right.searchParams.get('state')!;
    const stateOfOther = new URL(other.location!).searchParams.get('state')!;
    for (const wrong of ['', 'x', stateOfOther, state.toLowerCase(), `${state}A`]) {
      const url = new URL(right);
      url.searchParams.set('state', wrong);
      assertMismatch(await browser.get(url.href));
    }
    const missing = new URL(right);
    missing.searchParams.delete('state');
    assertMismatch(await browser.get(missing.href));
    assertMismatch(await browser.get(`${right.href}&state=${state}`));
    signing.assertSignedOut(browser);
    assert.equal(
      (await browser.get(right.href)).location,
      `${dashboardUrl}/app`,
      'the right one still works',
    );
  });

  it('takes a callback once, even when it comes twice at the same moment', async () => {
    const browser = signing.browser();
    const agreed = await agree(browser, await signing.begin(browser, 'oidc'), person());
    const cookie = browser.cookie(callbackUrlOf('oidc'), 'oauth')!;
    const pages = await Promise.all([1, 2].map(() => browser.get(agreed.location!)));
    assert.deepEqual(pages.map(({ status }) => status).sort(), [302, 401]);
    browser.setCookie(publicUrl, 'oauth', cookie);
    assertMismatch(await browser.get(agreed.location!));
  });

  it('refuses a callback that comes in another browser, with or without a sign-in of its own', async () => {
    const attacker = signing.browser();
    const agreed = await agree(attacker, await signing.begin(attacker, 'oidc'), person());
    const victim = signing.browser();
    assertMismatch(await victim.get(agreed.location!));
    await signing.begin(victim, 'oidc');
    assertMismatch(await victim.get(agreed.location!));
    signing.assertSignedOut(victim);
  });

  it('refuses a sign-in that took longer than 10 minutes, and forgets it', async () => {
    const browser = signing.browser();
    const agreed = await agree(browser, await signing.begin(browser, 'oidc'), person());
    await signing.api.db.raw(
      `update oauth_states set created_at = created_at - interval '10 minutes',
         expires_at = expires_at - interval '10 minutes'`,
    );
    assertMismatch(await browser.get(agreed.location!));
    await signing.begin(browser, 'oidc');
    const kept = retention.find(({ table }) => table === 'oauth_states');
    assert.ok(kept);
    await prune(signing.api.db, kept);
    const [left] = await signing.api.db('oauth_states').count({ rows: '*' });
    assert.equal(left?.rows, 1);
  });

  it('replaces a session that somebody else put into the browser', async () => {
    const attacker = await signing.api.signIn();
    for (const planted of [attacker.sid!, 'A'.repeat(43)]) {
      const browser = signing.browser();
      browser.setCookie(publicUrl, 'sid', planted);
      const login = person();
      await signIn(browser, login);
      assert.notEqual(browser.cookie(publicUrl, 'sid'), planted);
      assert.equal(await signing.emailOf(browser), `${login}@example.com`);
    }
    assert.equal((await attacker.get('/v1/auth/me')).status, 401, 'it is ended by the sign-in');
  });

  it('opens sessions that end one by one', async () => {
    const login = person();
    const [first, second] = [signing.browser(), signing.browser()];
    await signIn(first, login);
    await signIn(second, login);
    assert.equal((await signing.client(first).post('/v1/auth/logout')).status, 200);
    assert.equal((await signing.client(first).get('/v1/auth/me')).status, 401);
    assert.equal(await signing.emailOf(second), `${login}@example.com`);
  });

  it('goes on where the dashboard asked for', async () => {
    const page = await signIn(signing.browser(), person(), '/app/rentals?page=2#top');
    assert.equal(page.location, `${dashboardUrl}/app/rentals?page=2#top`);
  });

  it('goes on nowhere but in the dashboard', async () => {
    const away = [
      ...['https://evil.test', '//evil.test', '/\\evil.test', '\\\\evil.test', '/\t/evil.test', '/ /evil'],
      ...[
        '.evil.test',
        '@evil.test',
        ':80@evil.test',
        '',
        'app',
        'javascript:alert(1)',
        '/a\r\nSet-Cookie: x=1',
      ],
    ];
    for (const returnTo of away) {
      const page = await signing.begin(signing.browser(), 'oidc', returnTo);
      assert.equal(page.status, 400, returnTo);
      assert.equal((JSON.parse(page.text) as { error: string }).error, 'validation_failed');
      assert.deepEqual(page.headers.getSetCookie(), []);
    }
  });

  it('lists the providers that are enabled', async () => {
    const answer = await signing.api.stranger().get('/v1/auth/providers');
    assert.deepEqual([answer.status, answer.body], [200, { providers: [{ id: 'oidc', name: 'Test' }] }]);
  });

  it('knows no route of a provider that is disabled', async () => {
    for (const id of ['google', 'github', 'nobody', 'constructor']) {
      for (const step of ['start', 'callback']) {
        const answer = await signing.api.stranger().get(`/v1/auth/oauth/${id}/${step}`);
        assert.deepEqual([answer.status, answer.body.error], [404, 'not_found']);
      }
    }
  });

  it('writes no code, state, token or address into the log', async () => {
    const browser = signing.browser();
    const login = person();
    const agreed = await agree(browser, await signing.begin(browser, 'oidc'), login);
    const { searchParams } = new URL(agreed.location!);
    await browser.get(agreed.location!);
    const log = JSON.stringify(signing.api.logged);
    const secrets = [
      searchParams.get('code')!,
      searchParams.get('state')!,
      browser.cookie(publicUrl, 'sid')!,
      provider.clientSecret,
      `${login}@example.com`,
    ];
    assert.deepEqual(
      secrets.filter((secret) => log.includes(secret)),
      [],
    );
    assert.match(log, /oauth\/oidc\/callback/);
  });
});
