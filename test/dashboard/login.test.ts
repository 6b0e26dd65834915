import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { findBarriers } from '../support/dashboard/axe.js';
import { answerWith } from '../support/dashboard/paying.js';
import { failedRequest } from '../support/dashboard/failures.js';

describe('the sign-in of the dashboard', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  before(async () => {
    lab = await DashboardLab.start();
  });
  after(() => lab.stop());
  beforeEach(async () => {
    visitor = await lab.visit();
  });
  afterEach(() => visitor.close());

  const emailField = (page: Page) => page.getByLabel('Email address');
  const codeField = (page: Page) => page.getByLabel('Six-digit code');
  const askForCode = async (page: Page, email = 'grace@example.com'): Promise<void> => {
    await emailField(page).fill(email);
    await page.getByRole('button', { name: 'Email me a code' }).click();
    await codeField(page).waitFor();
  };

  it('signs in by a mailed code as it was pasted, and goes on to where one wanted to go', async () => {
    const page = await visitor.open('/app/invoices?status=open');
    await askForCode(page);
    await page.getByText('We sent a code to grace@example.com').waitFor();
    assert.equal(await codeField(page).getAttribute('autocomplete'), 'one-time-code');
    assert.equal(await codeField(page).getAttribute('inputmode'), 'numeric');
    await page.evaluate(() => navigator.clipboard.writeText(' １２３-४५٦ \n'));
    await codeField(page).focus();
    await page.keyboard.press('Control+v');
    await page.getByRole('heading', { level: 1, name: 'Invoices' }).waitFor();
    assert.equal(page.url(), `${lab.mock.url}/app/invoices?status=open`);
    assert.deepEqual(visitor.complaints, []);
  });

  it('shows strangers what can be rented from which price, and leads through the sign-in to what they press', async () => {
    const { page } = visitor;
    const families = [
      { family: 'h100-80gb', models: ['H100_SXM_80GB'], fromPricePerHourCents: 190, liveCount: 5 },
      { family: 'rtx-4090', models: ['RTX_4090'], fromPricePerHourCents: 40, liveCount: 4 },
      { family: 'b200', models: ['B200'], fromPricePerHourCents: null, liveCount: 0 },
    ];
    await answerWith(page, 'GET', '/v1/catalog/families', { families });
    await visitor.open('/login');
    const prices = page.getByRole('region', { name: 'GPUs you can rent now' }).getByRole('link');
    await prices.first().waitFor();
    assert.deepEqual(
      (await prices.allInnerTexts()).map((text) => text.replace('\n', ' ')),
      ['RTX 4090 from $0.40/h', 'H100 80 GB from $1.90/h'],
    );
    assert.deepEqual(await findBarriers(page), []);
    await prices.last().click();
    await page.getByText('Sign in to rent H100 80 GB.').waitFor();
    assert.equal(await emailField(page).evaluate((field) => field === document.activeElement), true);
    await page.unrouteAll();
    await askForCode(page);
    await codeField(page).fill('123456');
    await page.getByRole('heading', { level: 1, name: 'Rent H100 80 GB' }).waitFor();
    assert.deepEqual(visitor.complaints, []);
  });

  it('shows strangers nothing of prices where the service keeps them to its users', async () => {
    const { page } = visitor;
    const refused = { error: { code: 'unauthorized', message: 'Sign in first.' } };
    await page.route('**/v1/catalog/families', (route) => route.fulfill({ status: 401, json: refused }));
    const answered = page.waitForResponse('**/v1/catalog/families');
    await visitor.open('/login');
    await answered;
    await visitor.settle();
    assert.equal(await page.getByRole('region').count(), 0);
    assert.deepEqual(visitor.complaints, []);
  });

  it('says that it takes https where the browser does not keep the cookie', async () => {
    // A cookie that goes by TLS alone is dropped by a browser that came by plain http.
    await visitor.page.route('**/v1/auth/verify-code', async (route) => {
      const response = await route.fetch();
      await visitor.context.clearCookies();
      await route.fulfill({ status: response.status(), json: (await response.json()) as unknown });
    });
    const page = await visitor.open('/login');
    await askForCode(page);
    await codeField(page).fill('123456');
    await page.getByText('Use https', { exact: true }).waitFor();
    const link = page.getByRole('link', { name: 'Open the page with https' });
    assert.equal(await link.getAttribute('href'), `https://${new URL(lab.mock.url).host}/app`);
  });

  it('asks for a whole address before anything is sent', async () => {
    const page = await visitor.open('/login');
    await emailField(page).fill('grace');
    await page.keyboard.press('Enter');
    await page.getByText('Enter your email address').waitFor();
    assert.equal(await emailField(page).getAttribute('aria-invalid'), 'true');
    assert.equal(await emailField(page).inputValue(), 'grace');
  });

  it('keeps a wrong code, says so, and takes the right one', async () => {
    const page = await visitor.open('/login');
    await askForCode(page);
    await visitor.fail('POST', '/v1/auth/verify-code', 'code_invalid');
    await codeField(page).fill('12 34 56');
    await page.getByText('This code is wrong').or(page.getByText('code_invalid')).first().waitFor();
    assert.equal(await codeField(page).inputValue(), '123456');
    assert.equal(await codeField(page).getAttribute('aria-invalid'), 'true');
    await page.unrouteAll();
    await codeField(page).fill('654321');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  it('takes a code from a whole mail that is pasted over a wrong one', async () => {
    const page = await visitor.open('/login');
    await askForCode(page);
    await visitor.fail('POST', '/v1/auth/verify-code', 'code_invalid');
    await codeField(page).fill('111111');
    await page.getByText('code_invalid').or(page.getByText('This code is wrong')).first().waitFor();
    await page.unrouteAll();
    await page.evaluate(() =>
      navigator.clipboard.writeText('Your code is 654 321. It holds for 10 minutes.'),
    );
    await codeField(page).focus();
    await page.keyboard.press('End');
    const [request] = await Promise.all([
      page.waitForRequest('**/v1/auth/verify-code'),
      page.keyboard.press('Control+v'),
    ]);
    assert.equal((request.postDataJSON() as { code: string }).code, '654321');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  it('says that a session was ended elsewhere, in an open tab and on a new load, and not after signing out', async () => {
    await visitor.signIn();
    const page = await visitor.open('/app/invoices');
    const said = page.getByText('You have been signed out');
    const endElsewhere = (): Promise<unknown> => visitor.ask('POST', '/v1/auth/logout');
    await endElsewhere();
    // An open tab may learn of it by itself before the press, which then must not wait for the link of a later page.
    const links = page.getByRole('link', { name: 'Budget' });
    await links.evaluateAll(([link]) => (link as HTMLElement | undefined)?.click()).catch(() => undefined);
    await said.waitFor();
    await emailField(page).waitFor();
    assert.equal(new URL(page.url()).pathname, '/login');

    await visitor.signInAnew('ada@example.com');
    await visitor.open('/app/keys');
    await page.goto('about:blank');
    await endElsewhere();
    await page.goto('/app/keys');
    await said.waitFor();
    // It is said once.
    await page.goto('/app/keys');
    await emailField(page).waitFor();
    assert.equal(await said.count(), 0);

    await visitor.signInAnew('ada@example.com');
    await visitor.open('/app');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/login');
    await emailField(page).waitFor();
    assert.equal(await said.count(), 0);
  });

  it('mails another code only after its time, and says when', async () => {
    await visitor.page.clock.install();
    const page = await visitor.open('/login');
    await askForCode(page);
    const waiting = page.getByRole('button', { name: 'Another code in 0:' });
    await waiting.waitFor();
    assert.equal(await waiting.isDisabled(), true);
    await page.clock.runFor(31_000);
    await page.getByRole('button', { name: 'Email another code' }).click();
    await page.getByText('We sent another code').waitFor();
    await waiting.waitFor();
  });

  it('tells who asked too often when to ask again, and lets them enter what was mailed', async () => {
    const page = await visitor.open('/login');
    await visitor.fail('POST', '/v1/auth/request-code', 'code_request_rate_limited');
    await emailField(page).fill('grace@example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    assert.equal(await emailField(page).inputValue(), 'grace@example.com');
    await page.getByRole('button', { name: 'I have a code' }).click();
    await codeField(page).fill('123456');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  it('keeps the code when the service is away, and tells the request’s id', async () => {
    const page = await visitor.open('/login');
    await askForCode(page);
    await visitor.fail('POST', '/v1/auth/verify-code', 'temporarily_unavailable');
    await codeField(page).fill('123456');
    await failedRequest(page).waitFor();
    assert.equal(await codeField(page).inputValue(), '123456');
    await page.getByRole('button', { name: 'Use another address' }).click();
    assert.equal(await emailField(page).inputValue(), 'grace@example.com');
  });

  it('offers the accounts elsewhere that are set up, and brings the way back along', async () => {
    await visitor.page.route('**/v1/auth/providers', (route) =>
      route.fulfill({ json: { providers: [{ id: 'github', name: 'GitHub' }] } }),
    );
    const page = await visitor.open('/login?returnTo=/app/rentals?status=running');
    const link = page.getByRole('link', { name: 'Continue with GitHub' });
    const address = new URL((await link.getAttribute('href')) ?? '');
    assert.equal(address.pathname, '/v1/auth/oauth/github/start');
    assert.equal(address.searchParams.get('returnTo'), '/app/rentals?status=running');
  });

  it('says why a sign-in elsewhere failed', async () => {
    for (const [fault, words] of Object.entries({
      oauth_denied: 'The sign-in was cancelled',
      oauth_no_email: 'That account has no verified email address',
      oauth_provider_unavailable: 'The other service does not answer',
      oauth_failed: 'The sign-in was not completed',
      oauth_of_the_future: 'The sign-in did not work',
    })) {
      const page = await visitor.open(`/login?error=${fault}`);
      await page.getByText(words).waitFor();
      await emailField(page).waitFor();
    }
  });

  it('asks the owner of an address for the code that was mailed, and takes the address out of the page’s own', async () => {
    const page = await visitor.open('/login?error=oauth_confirm#email=grace%2Bgpu%40example.com');
    await page.getByText('Is this account yours?').waitFor();
    await page.getByText('the last email to grace+gpu@example.com').waitFor();
    assert.equal(new URL(page.url()).hash, '');
    const [request] = await Promise.all([
      page.waitForRequest('**/v1/auth/verify-code'),
      codeField(page).fill('123456'),
    ]);
    assert.deepEqual(request.postDataJSON(), { email: 'grace+gpu@example.com', code: '123456' });
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  it('leads whoever is signed in straight on', async () => {
    await visitor.signIn();
    const page = visitor.page;
    await page.goto('/login?returnTo=/app/keys');
    await page.getByRole('heading', { level: 1, name: 'SSH keys' }).waitFor();
  });

  it('leads no one away from the dashboard', async () => {
    await visitor.signIn();
    await visitor.page.goto('/login?returnTo=https://example.com/');
    await visitor.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  });

  it('goes on once somebody signs in in another tab', async () => {
    const page = await visitor.open('/login?returnTo=/app/keys');
    const other = await visitor.context.newPage();
    await other.goto('/login');
    await askForCode(other);
    await codeField(other).fill('123456');
    await page.getByRole('heading', { level: 1, name: 'SSH keys' }).waitFor();
  });
});
