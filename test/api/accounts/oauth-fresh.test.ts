import assert from 'node:assert/strict';
import { createIdentityProviders } from '../../../adapters/identity/providers.js';
import type { IdentityProvider, VerifiedIdentity } from '../../../adapters/identity/identity.js';
import type { Browser, Page } from '../../support/http/browser.js';
import { startIdentityProvider, type TestIdentityProvider } from '../../support/http/identity-provider.js';
import { callbackUrlOf, publicUrl, SigningIn } from '../../support/http/signing-in-elsewhere.js';

const callbackUrl = callbackUrlOf('oidc');

describe('how fresh a sign-in with an account elsewhere is', () => {
  let provider: TestIdentityProvider;
  let signing: SigningIn;
  /** What the other provider says next. */
  let said: Date;

  /** Tells whatever instant a test asks for. */
  const scripted: IdentityProvider = {
    id: 'github',
    name: 'Scripted',
    findSignInPage: ({ state }) => Promise.resolve(new URL(`http://elsewhere.test/?state=${state}`)),
    findVerifiedIdentity: (): Promise<VerifiedIdentity> =>
      Promise.resolve({
        issuer: 'http://elsewhere.test',
        subject: '7',
        email: 'seven@example.com',
        authenticatedAt: said,
      }),
  };

  before(async () => {
    provider = await startIdentityProvider(callbackUrl);
    const { issuerUrl, clientId, clientSecret } = provider;
    const oidc = { issuerUrl, clientId, clientSecret, name: 'Test' };
    signing = await SigningIn.start([
      ...createIdentityProviders({ google: null, github: null, oidc }),
      scripted,
    ]);
    provider.people.set('ann', { email: 'ann@example.com', email_verified: true });
  });
  after(async () => {
    await signing.api.stop();
    await provider.stop();
  });

  const start = (browser: Browser, query = ''): Promise<Page> =>
    browser.get(`${publicUrl}/v1/auth/oauth/oidc/start${query}`);
  /** Follows the provider's pages, and fills in a form where it shows one. @returns the forms that it showed */
  async function signIn(browser: Browser, begun: Page): Promise<string[]> {
    const shown: string[] = [];
    let page = await browser.follow(begun, callbackUrl);
    while (page.location === null) {
      const prompt = /name="prompt" value="(\w+)"/.exec(page.text)![1]!;
      shown.push(prompt);
      page = await browser.post(page.url, { prompt, login: 'ann', password: 'any' });
      page = await browser.follow(page, callbackUrl);
    }
    assert.equal((await browser.get(page.location)).status, 302);
    return shown;
  }
  const sessionOf = async (browser: Browser) => {
    const { body } = await signing.client(browser).get('/v1/auth/sessions');
    const { sessions } = body as unknown as { sessions: { isCurrent: boolean; provedAt: string | null }[] };
    return sessions.find(({ isCurrent }) => isCurrent)!;
  };
  const make = async (browser: Browser) => {
    const { status, body } = await signing
      .client(browser)
      .post('/v1/webhooks', { url: 'https://x.example.com/' });
    return [status, body.error];
  };

  it('is not known where the provider does not tell: a code is needed', async () => {
    const browser = signing.browser();
    await signIn(browser, await start(browser));
    // It still knows the person, and asks nothing.
    assert.deepEqual(await signIn(browser, await start(browser)), []);
    assert.equal((await sessionOf(browser)).provedAt, null);
    assert.deepEqual(await make(browser), [403, 'fresh_sign_in_required']);
  });

  it('is asked of the provider by fresh=true, which lets the person sign in anew there', async () => {
    const browser = signing.browser();
    await signIn(browser, await start(browser));
    const former = signing.client(browser);
    const begun = await start(browser, '?fresh=true');
    assert.equal(new URL(begun.location!).searchParams.get('max_age'), '0');
    assert.ok((await signIn(browser, begun)).includes('login'));
    const { provedAt } = await sessionOf(browser);
    assert.ok(Math.abs(Date.parse(provedAt!) - Date.now()) < 60_000, provedAt!);
    assert.deepEqual(await make(browser), [200, undefined]);
    assert.equal((await former.get('/v1/auth/me')).status, 401);
  });

  it('asks the provider for nothing otherwise, and refuses another value', async () => {
    for (const query of ['', '?fresh=false']) {
      const { searchParams } = new URL((await start(signing.browser(), query)).location!);
      assert.deepEqual([searchParams.get('max_age'), searchParams.get('prompt')], [null, null]);
    }
    assert.equal((await start(signing.browser(), '?fresh=perhaps')).status, 400);
  });

  for (const [what, agoMs, isFresh] of [
    ['counts from a minute ago', 60_000, true],
    ['does not count from an hour ago', 3_600_000, false],
    ['is never in the future', -3_600_000, true],
  ] as const) {
    it(what, async () => {
      said = new Date(Date.now() - agoMs);
      const browser = signing.browser();
      const begun = await signing.begin(browser, 'github');
      const state = new URL(begun.location!).searchParams.get('state')!;
      const page = await browser.get(`${callbackUrlOf('github')}?code=x&state=${state}`);
      assert.equal(page.status, 302);
      const { provedAt } = await sessionOf(browser);
      assert.ok(Date.parse(provedAt!) <= Date.now() + 1_000);
      assert.equal((await make(browser))[0], isFresh ? 200 : 403);
    });
  }
});
