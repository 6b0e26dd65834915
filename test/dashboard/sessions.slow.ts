import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { assertReadAgain, failedRequest } from '../support/dashboard/failures.js';

describe('the page of sessions', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let email: string;
  let users = 0;
  before(async () => {
    lab = await DashboardLab.start();
    visitor = await lab.visit();
  });
  after(() => lab.stop());
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
