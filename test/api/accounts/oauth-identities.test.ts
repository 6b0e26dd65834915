import assert from 'node:assert/strict';
import type { IdentityProvider, VerifiedIdentity } from '../../../adapters/identity/identity.js';
import { ApiClient, type SignedIn } from '../../support/http/api.js';
import type { Browser, Page } from '../../support/http/browser.js';
import {
  callbackUrlOf,
  dashboardUrl,
  publicUrl,
  signInPage,
  SigningIn,
} from '../../support/http/signing-in-elsewhere.js';

const MINUTE = 60_000;
const issuer = 'https://issuer.test';

describe('accounts elsewhere (decision 85)', () => {
  let signing: SigningIn;
  let answer: VerifiedIdentity;
  let accounts = 0;

  /** A provider that vouches for anything that the test says. */
  const provider: IdentityProvider = {
    id: 'oidc',
    name: 'Test',
    findSignInPage: ({ state }) => Promise.resolve(new URL(`${issuer}/?state=${state}`)),
    findVerifiedIdentity: () => Promise.resolve(answer),
  };

  before(async () => {
    signing = await SigningIn.start([provider]);
  });
  after(() => signing.api.stop());

  function newAccount(email: string): VerifiedIdentity {
    accounts += 1;
    return { issuer, subject: `subject-${accounts}`, email };
  }

  async function comeBack(browser: Browser, identity: VerifiedIdentity): Promise<Page> {
    answer = identity;
    const begun = new URL((await signing.begin(browser, 'oidc')).location!);
    return browser.get(`${callbackUrlOf('oidc')}?code=c&state=${begun.searchParams.get('state')!}`);
  }

  async function codeFor(email: string): Promise<string> {
    const mail = await signing.api
      .db('mail_outbox')
      .where({ recipient: email })
      .orderBy('id', 'desc')
      .first();
    return /code is (\d{6})/.exec(mail?.body ?? '')![1]!;
  }

  const mailsTo = async (recipient: string): Promise<number> =>
    (await signing.api.db('mail_outbox').where({ recipient })).length;

  /** Enters a code on the sign-in page in this browser. */
  async function confirm(browser: Browser, email: string, code: string): Promise<ApiClient> {
    const client = new ApiClient(signing.api.url);
    client.browser = browser.cookie(`${publicUrl}/v1/auth/verify-code`, 'browser');
    const verified = await client.post('/v1/auth/verify-code', { email, code });
    assert.equal(verified.status, 200);
    return client;
  }

  /** A user who has signed in by codes alone. */
  async function existing(): Promise<SignedIn> {
    return signing.api.signIn();
  }

  function assertAsked(page: Page, email: string): void {
    assert.equal(page.location, `${signInPage('oauth_confirm')}#email=${encodeURIComponent(email)}`);
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
  }

  it('are linked when they make a user, and sign in by their subject from then on', async () => {
    const account = newAccount('first@example.com');
    const browser = signing.browser();
    assert.equal((await comeBack(browser, account)).location, `${dashboardUrl}/app`);
    const again = signing.browser();
    const renamed = { ...account, email: 'renamed@example.com' };
    assert.equal((await comeBack(again, renamed)).location, `${dashboardUrl}/app`);
    assert.equal(await signing.emailOf(again), 'first@example.com');
    assert.equal(await signing.api.db('users').where({ email: 'renamed@example.com' }).first(), undefined);
    assert.equal(await mailsTo('first@example.com'), 0);
  });

  it('must be confirmed once by a mailed code when the user is there already', async () => {
    const { user } = await existing();
    const account = newAccount(user.email);
    const browser = signing.browser();
    assertAsked(await comeBack(browser, account), user.email);
    signing.assertSignedOut(browser);
    assert.deepEqual(await signing.api.db('identities').where({ user_id: user.id }), []);

    const client = await confirm(browser, user.email, await codeFor(user.email));
    assert.equal((await client.get('/v1/auth/me')).body.user.id, user.id);
    const later = signing.browser();
    assert.equal((await comeBack(later, account)).location, `${dashboardUrl}/app`);
    assert.equal(await signing.emailOf(later), user.email);
    assert.equal(await mailsTo(user.email), 1, 'once');
  });

  it('are not linked by a code that is typed in another browser', async () => {
    const { user } = await existing();
    const account = newAccount(user.email);
    assertAsked(await comeBack(signing.browser(), account), user.email);
    await confirm(signing.browser(), user.email, await codeFor(user.email));
    assertAsked(await comeBack(signing.browser(), account), user.email);
  });

  it('are linked by a code that the same browser asked for by itself', async () => {
    const { user } = await existing();
    const account = newAccount(user.email);
    const browser = signing.browser();
    await comeBack(browser, account);
    const client = new ApiClient(signing.api.url);
    client.browser = browser.cookie(`${publicUrl}/v1/auth/verify-code`, 'browser');
    assert.equal((await client.post('/v1/auth/request-code', { email: user.email })).status, 200);
    await confirm(browser, user.email, await codeFor(user.email));
    assert.equal((await comeBack(signing.browser(), account)).location, `${dashboardUrl}/app`);
  });

  it('are not linked once the code has lapsed', async () => {
    const { user } = await existing();
    const account = newAccount(user.email);
    const browser = signing.browser();
    await comeBack(browser, account);
    await signing.api
      .db('login_codes')
      .where({ email: user.email })
      .update({ expires_at: new Date(0) });
    const client = new ApiClient(signing.api.url);
    client.browser = browser.cookie(`${publicUrl}/v1/auth/verify-code`, 'browser');
    await client.post('/v1/auth/request-code', { email: user.email });
    await confirm(browser, user.email, await codeFor(user.email));
    assert.deepEqual(await signing.api.db('identities').where({ user_id: user.id }), []);
  });

  it('of an address that changed hands ask its new owner for a code, and then take the place of the old ones', async () => {
    const former = newAccount('shared@example.com');
    await comeBack(signing.browser(), former);
    const next = newAccount('shared@example.com');
    const browser = signing.browser();
    assertAsked(await comeBack(browser, next), 'shared@example.com');
    await confirm(browser, 'shared@example.com', await codeFor('shared@example.com'));
    assert.equal((await comeBack(signing.browser(), next)).location, `${dashboardUrl}/app`);
    assertAsked(await comeBack(signing.browser(), former), 'shared@example.com');
  });

  it('are asked for codes within a share of mails of their own', async () => {
    const { user } = await existing();
    for (let count = 0; count < 5; count += 1) {
      await signing.api.stranger().post('/v1/auth/request-code', { email: user.email });
      await signing.api.db.raw(
        `update login_codes set created_at = created_at - interval '${MINUTE} milliseconds' where email = ?`,
        [user.email],
      );
    }
    for (let count = 0; count < 3; count += 1) {
      assertAsked(await comeBack(signing.browser(), newAccount(user.email)), user.email);
    }
    assert.equal(await mailsTo(user.email), 5 + 1, 'strangers used up theirs, and 30 s are 30 s here too');
  });

  it('of another user stay theirs, whoever confirms', async () => {
    const account = newAccount('owner@example.com');
    const { user } = await existing();
    const browser = signing.browser();
    await comeBack(browser, { ...account, email: user.email });
    await comeBack(signing.browser(), account);
    await confirm(browser, user.email, await codeFor(user.email));
    const later = signing.browser();
    await comeBack(later, account);
    assert.equal(await signing.emailOf(later), 'owner@example.com');
  });
});
