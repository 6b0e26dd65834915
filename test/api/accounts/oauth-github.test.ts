import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createIdentityProviders } from '../../../adapters/identity/providers.js';
import type { Browser, Page } from '../../support/http/browser.js';
import { ScriptedServer } from '../../support/service/scripted-provider.js';
import {
  callbackUrlOf,
  dashboardUrl,
  signInPage,
  SigningIn,
} from '../../support/http/signing-in-elsewhere.js';

const TOKEN = '/login/oauth/access_token';
const EMAILS = '/user/emails';
const USER = '/user';

describe('signing in with GitHub', () => {
  let github: ScriptedServer;
  let signing: SigningIn;
  let browser: Browser;

  before(async () => {
    github = await ScriptedServer.start();
    const google = null;
    signing = await SigningIn.start(
      createIdentityProviders(
        { google, github: { clientId: 'client', clientSecret: 'secret-of-the-client' }, oidc: null },
        { githubSiteUrl: github.url, githubApiUrl: github.url, timeoutMs: 200 },
      ),
    );
  });
  after(async () => {
    await signing.api.stop();
    await github.stop();
  });
  beforeEach(() => {
    browser = signing.browser();
    github.asked.length = 0;
    github.answers = {
      [TOKEN]: { body: { access_token: 'gho_of_the_test', token_type: 'bearer', scope: 'user:email' } },
      [EMAILS]: {
        body: [
          { email: 'second@example.com', primary: false, verified: true },
          { email: 'Octo@Example.com', primary: true, verified: true },
        ],
      },
      [USER]: { body: { id: 583_231, login: 'octo' } },
    };
  });

  async function signIn(query: Record<string, string> = { code: 'code-of-github' }): Promise<Page> {
    const begun = new URL((await signing.begin(browser, 'github')).location!);
    const state = begun.searchParams.get('state')!;
    const answer = new URLSearchParams({ ...query, state });
    return browser.get(`${callbackUrlOf('github')}?${answer.toString()}`);
  }

  async function assertFails(error: string, query?: Record<string, string>): Promise<void> {
    const page = await signIn(query);
    assert.deepEqual([page.status, page.location], [302, signInPage(error)]);
    signing.assertSignedOut(browser);
  }

  it('asks for the addresses alone, with a code challenge', async () => {
    const page = new URL((await signing.begin(browser, 'github')).location!);
    assert.equal(page.origin + page.pathname, `${github.url}/login/oauth/authorize`);
    assert.equal(page.searchParams.get('scope'), 'user:email');
    assert.equal(page.searchParams.get('client_id'), 'client');
    assert.equal(page.searchParams.get('redirect_uri'), callbackUrlOf('github'));
    const challenge = page.searchParams.get('code_challenge');
    await browser.get(`${callbackUrlOf('github')}?code=c&state=${page.searchParams.get('state')!}`);
    const [exchange, emails, user] = github.asked;
    assert.deepEqual([exchange!.method, exchange!.path], ['POST', TOKEN]);
    assert.equal(exchange!.form.get('client_secret'), 'secret-of-the-client');
    assert.equal(exchange!.headers.accept, 'application/json');
    const verifier = exchange!.form.get('code_verifier')!;
    assert.equal(createHash('sha256').update(verifier).digest('base64url'), challenge);
    assert.deepEqual([emails!.method, emails!.path], ['GET', EMAILS]);
    assert.equal(emails!.headers.authorization, 'Bearer gho_of_the_test');
    assert.deepEqual([user!.method, user!.path], ['GET', USER]);
    assert.equal(user!.headers.authorization, 'Bearer gho_of_the_test');
  });

  it('signs in by the primary address', async () => {
    assert.equal((await signIn()).location, `${dashboardUrl}/app`);
    assert.equal(await signing.emailOf(browser), 'octo@example.com');
  });

  it('knows an account by its number: its name and its address may become another’s', async () => {
    github.answers[USER] = { body: { id: 42, login: 'ann' } };
    github.answers[EMAILS] = { body: [{ email: 'ann@example.com', primary: true, verified: true }] };
    await signIn();
    browser = signing.browser();
    github.answers[EMAILS] = { body: [{ email: 'new@example.com', primary: true, verified: true }] };
    await signIn();
    assert.equal(await signing.emailOf(browser), 'ann@example.com');
    browser = signing.browser();
    github.answers[USER] = { body: { id: 43, login: 'ann' } };
    github.answers[EMAILS] = { body: [{ email: 'ann@example.com', primary: true, verified: true }] };
    assert.match((await signIn()).location!, /error=oauth_confirm/);
    signing.assertSignedOut(browser);
  });

  it('fails when the account has no number', async () => {
    for (const body of [{}, { id: 'x' }, { id: 1.5 }, 'text']) {
      github.answers[USER] = { body };
      await assertFails('oauth_failed');
    }
  });

  it('refuses when the primary address is not verified, whatever the others are', async () => {
    const second = { email: 'second@example.com', primary: false, verified: true };
    for (const emails of [
      [second, { email: 'octo@example.com', primary: true, verified: false }],
      [second],
      [],
      [second, { email: null, primary: true, verified: true }],
    ]) {
      github.answers[EMAILS] = { body: emails };
      await assertFails('oauth_no_email');
    }
  });

  it('tells that the person said no', () => assertFails('oauth_denied', { error: 'access_denied' }));

  it('fails when GitHub refuses the code, which it says with status 200', async () => {
    github.answers[TOKEN] = {
      body: { error: 'bad_verification_code', error_description: 'The code passed is incorrect or expired.' },
    };
    await assertFails('oauth_failed');
  });

  it('fails when the addresses are not to be had', async () => {
    for (const answer of [{ status: 403, body: {} }, { body: { message: 'no list' } }]) {
      github.answers[EMAILS] = answer;
      await assertFails('oauth_failed');
    }
  });

  it('says so when GitHub is down or does not answer', async () => {
    for (const path of [TOKEN, EMAILS, USER]) {
      for (const answer of [
        { status: 502, body: {} },
        { status: 429, body: {} },
        'never',
        'stalls',
      ] as const) {
        const right = github.answers[path]!;
        github.answers[path] = answer;
        await assertFails('oauth_provider_unavailable');
        github.answers[path] = right;
      }
    }
  });

  it('writes no token, code, secret or address into the log', () => {
    const log = JSON.stringify(signing.api.logged);
    const secrets = ['gho_of_the_test', 'code-of-github', 'secret-of-the-client', 'octo@', 'Octo@'];
    assert.deepEqual(
      secrets.filter((secret) => log.includes(secret)),
      [],
    );
    assert.match(log, /an identity provider failed a sign-in/);
  });
});
