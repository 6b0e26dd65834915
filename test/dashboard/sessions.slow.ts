import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { askProof, endProof, openProof } from '../../clients/dashboard/src/app/open-proof.js';
import { ProofCancelled } from '../../clients/dashboard/src/data/errors.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { assertReadAgain, failedRequest, readAgain } from '../support/dashboard/failures.js';

describe('who is signed in, in the dashboard', () => {
  let lab: DashboardLab;
  before(async () => {
    lab = await DashboardLab.start();
  });
  after(() => lab.stop());

  describe('the page of sessions', function () {
    this.timeout(60_000);
    let visitor: Visitor;
    let page: Page;
    let email: string;
    let users = 0;
    before(async () => {
      visitor = await lab.visit();
    });
    after(() => visitor.close());
    beforeEach(async () => {
      email = `sessions-${(users += 1)}@example.com`;
      await visitor.signInAnew(email);
      page = visitor.page;
    });
    afterEach(() => page.unrouteAll());

    const dialog = () => page.getByRole('dialog');
    const rows = () => page.getByRole('main').getByRole('listitem');

    /** Signs the user in elsewhere, as another device. */
    async function signInElsewhere(userAgent = 'curl/8.5.0'): Promise<string> {
      const answer = await fetch(`${lab.mock.url}/v1/auth/verify-code`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': userAgent },
        body: JSON.stringify({ email, code: '123456' }),
      });
      return answer.headers
        .getSetCookie()
        .find((cookie) => cookie.startsWith('sid='))!
        .split(';')[0]!;
    }
    async function isSignedIn(cookie: string): Promise<boolean> {
      return (await fetch(`${lab.mock.url}/v1/auth/me`, { headers: { cookie } })).ok;
    }
    async function otherId(): Promise<string> {
      const { sessions } = await visitor.ask<{ sessions: { id: string; isCurrent: boolean }[] }>(
        'GET',
        '/v1/auth/sessions',
      );
      return sessions.find(({ isCurrent }) => !isCurrent)!.id;
    }

    it('counts when each was used by the service’s clock, also where the browser’s is wrong', async () => {
      const other = await lab.visit();
      await other.signIn(email);
      await other.page.clock.setSystemTime(Date.now() - 3_600_000);
      await other.open('/app/sessions');
      const used = other.page
        .getByRole('main')
        .getByRole('listitem')
        .getByText(/^\(.*\)$/);
      await used.first().waitFor();
      for (const text of await used.allInnerTexts())
        assert.match(text, /^\((now|\d+ (seconds?|minutes?) ago)\)$/);
      await other.end();
    });

    it('marks this one, which can’t be ended here', async () => {
      await visitor.open('/app/sessions');
      await rows().getByText('This one').waitFor();
      await rows().getByText('127.0.0.1').waitFor();
      await page.getByText('You are not signed in anywhere else.').waitFor();
      assert.equal(await page.getByRole('button', { name: /^End/ }).count(), 0);
    });

    it('ends one elsewhere after a question, and leaves the others', async () => {
      const cookie = await signInElsewhere();
      const third = await signInElsewhere('Wget/1.21');
      await visitor.open('/app/sessions');
      await page.getByRole('button', { name: 'End the session of curl' }).click();
      await dialog().getByRole('button', { name: 'Cancel' }).click();
      assert.equal(await isSignedIn(cookie), true);
      await page.getByRole('button', { name: 'End the session of curl' }).click();
      await dialog().getByRole('button', { name: 'End' }).click();
      await rows().filter({ hasText: 'curl' }).waitFor({ state: 'detached' });
      assert.deepEqual([await isSignedIn(cookie), await isSignedIn(third)], [false, true]);
    });

    it('stays where only one request was refused, and leaves once nobody is signed in', async () => {
      // As one is that began before a proof gave the session another cookie.
      await visitor.fail('GET', '/v1/auth/sessions', 'unauthorized');
      await visitor.open('/app/sessions');
      await failedRequest(page).waitFor();
      await page.unrouteAll();
      await readAgain(page, rows().getByText('This one'));
      await page.context().clearCookies();
      await page.getByRole('link', { name: 'API keys' }).click();
      await page.getByText('You have been signed out').waitFor();
      assert.equal(new URL(page.url()).searchParams.get('returnTo'), '/app/api-keys');
    });

    it('ends all others at once, and tells how many', async () => {
      const cookies = [await signInElsewhere(), await signInElsewhere()];
      await visitor.open('/app/sessions');
      await page.getByRole('button', { name: 'End all others' }).click();
      await dialog().getByRole('button', { name: 'End all others' }).click();
      await page.getByRole('status').getByText('2 sessions ended').waitFor();
      await page.getByText('You are not signed in anywhere else.').waitFor();
      assert.deepEqual(await Promise.all(cookies.map(isSignedIn)), [false, false]);
    });

    it('shows more than one page', async () => {
      for (let count = 0; count < 51; count += 1) await signInElsewhere();
      await visitor.open('/app/sessions');
      await rows().first().waitFor();
      assert.equal(await rows().getByText('This one').count(), 0);
      await page.getByRole('button', { name: 'More' }).last().click();
      await rows().getByText('This one').waitFor();
    });

    it('tells in the question that a session could not be ended', async () => {
      await signInElsewhere();
      await visitor.open('/app/sessions');
      await visitor.fail('DELETE', `/v1/auth/sessions/${await otherId()}`, 'session_not_found');
      await page.getByRole('button', { name: 'End the session of curl' }).click();
      await dialog().getByRole('button', { name: 'End' }).click();
      await failedRequest(dialog()).waitFor();
    });

    it('tells in the question that the others could not be ended', async () => {
      await signInElsewhere();
      await visitor.open('/app/sessions');
      await visitor.fail('POST', '/v1/auth/sessions/end-others', 'forbidden');
      await page.getByRole('button', { name: 'End all others' }).click();
      await dialog().getByRole('button', { name: 'End all others' }).click();
      await failedRequest(dialog()).waitFor();
    });

    it('tells that the list could not be read, and reads it when asked again', async () => {
      await assertReadAgain(visitor, {
        page: '/app/sessions',
        reads: '/v1/auth/sessions',
        shows: rows().getByText('This one'),
      });
    });
  });

  describe('a question that is open', () => {
    it('answers all who ask meanwhile, once', async () => {
      const both = [askProof('first'), askProof('second')];
      const open = openProof();
      assert.equal(open?.owner, 'first');
      endProof(open, 'proved');
      await Promise.all(both);
      assert.equal(openProof(), undefined);
      endProof(open, 'cancelled');
      assert.equal(openProof(), undefined);
    });

    it('rejects all who ask meanwhile when it is closed, and can be asked again', async () => {
      const both = [askProof('first'), askProof('second')];
      const open = openProof();
      assert(open);
      endProof(open, 'cancelled');
      for (const asked of both) await assert.rejects(asked, ProofCancelled);
      void askProof('third');
      assert.equal(openProof()?.owner, 'third');
      endProof(openProof()!, 'proved');
    });
  });

  describe('the question whether it is still the same person', function () {
    this.timeout(60_000);
    let visitor: Visitor;
    let page: Page;
    let users = 0;
    before(async () => {
      visitor = await lab.visit();
    });
    beforeEach(async () => {
      await visitor.signInAnew(`proof-${(users += 1)}@example.com`);
      page = visitor.page;
    });
    afterEach(async () => {
      page.removeAllListeners('response');
      await page.unrouteAll();
    });

    const question = () => page.getByRole('dialog', { name: 'Confirm that it is you' });
    const code = () => question().getByRole('textbox', { name: 'Code from the email' });

    /** Asks for a key in a session that is not fresh until a code was given. */
    async function askForKey(): Promise<void> {
      let isFresh = false;
      page.on('response', (answer) => {
        const isCode =
          answer.url().endsWith('/refresh-proof') && answer.request().postData()?.includes('code');
        if (isCode && answer.ok()) isFresh = true;
      });
      await page.route('**/v1/api-keys', (route, request) =>
        request.method() === 'POST' && !isFresh
          ? route.continue({ headers: { ...request.headers(), 'x-mock-failure': 'fresh_sign_in_required' } })
          : route.fallback(),
      );
      await visitor.open('/app/api-keys');
      await page.getByRole('button', { name: 'Create a key' }).first().click();
      await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('mine');
      await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
    }

    it('mails a code, takes it as it is pasted, and does what was asked for', async () => {
      await askForKey();
      await question().getByText(`We emailed a six-digit code to proof-${users}@example.com.`).waitFor();
      await page.evaluate(() => navigator.clipboard.writeText('Your code: 123 456\n'));
      await code().focus();
      await page.keyboard.press('ControlOrMeta+V');
      await page.getByRole('heading', { name: 'Copy the key now' }).waitFor();
    });

    it('is answered by hand and by the keyboard alone', async () => {
      await askForKey();
      await code().and(page.locator(':focus')).waitFor();
      assert.equal(await code().getAttribute('autocomplete'), 'one-time-code');
      assert.equal(await question().getByRole('button', { name: 'Confirm' }).isDisabled(), true);
      await page.keyboard.type('654321');
      await page.getByRole('heading', { name: 'Copy the key now' }).waitFor();
    });

    it('says that a code is wrong, and takes the next one', async () => {
      await askForKey();
      await visitor.fail('POST', '/v1/auth/refresh-proof', 'code_invalid');
      await code().fill('111111');
      await question().getByText('This code is wrong').waitFor();
      assert.equal(await code().inputValue(), '111111');
      await page.unrouteAll();
      await code().fill('222222');
      await page.getByRole('heading', { name: 'Copy the key now' }).waitFor();
    });

    it('takes the code of a mail that was sent a moment ago, and counts down to another', async () => {
      await visitor.fail('POST', '/v1/auth/refresh-proof', 'code_request_rate_limited');
      await askForKey();
      await question().getByText('Use the last code we emailed you').waitFor();
      const again = question().getByRole('button', { name: /^Another code in 0:/ });
      await again.waitFor();
      assert.equal(await again.isDisabled(), true);
    });

    it('mails another code after half a minute', async () => {
      await page.clock.install();
      let mails = 0;
      page.on('request', (request) => {
        if (request.url().endsWith('/refresh-proof')) mails += 1;
      });
      await askForKey();
      await question().getByText('Another code in 0:30').waitFor();
      await page.clock.runFor(31_000);
      await question().getByRole('button', { name: 'Email another code' }).click();
      await question().getByText('Another code in 0:30').waitFor();
      assert.equal(mails, 2);
    });

    it('tells that no code could be mailed, and tries again', async () => {
      await askForKey();
      await question().waitFor();
      await page.getByRole('dialog').last().getByRole('button', { name: 'Cancel' }).click();
      await visitor.fail('POST', '/v1/auth/refresh-proof', 'internal_error');
      await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
      await question().getByRole('alert').getByText('We did not send a code').waitFor();
      await page.unrouteAll();
      await question().getByRole('button', { name: 'Try again' }).click();
      await question().getByText('We emailed a six-digit code').waitFor();
    });

    it('tells another failure of the code with the request’s id', async () => {
      await askForKey();
      await question().getByText('We emailed a six-digit code').waitFor();
      await visitor.fail('POST', '/v1/auth/refresh-proof', 'internal_error');
      await code().fill('123456');
      await failedRequest(question()).waitFor();
    });

    it('does nothing when it is closed, says so, and keeps the form', async () => {
      await askForKey();
      await code().waitFor();
      await page.keyboard.press('Escape');
      await question().waitFor({ state: 'hidden' });
      const form = page.getByRole('dialog');
      await form.getByRole('alert').getByText('You did not confirm that it is you').waitFor();
      assert.equal(await form.getByRole('textbox', { name: 'Name' }).inputValue(), 'mine');
      assert.deepEqual((await visitor.ask<{ apiKeys: unknown[] }>('GET', '/v1/api-keys')).apiKeys, []);
    });
  });
});
