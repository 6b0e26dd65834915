import assert from 'node:assert/strict';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { Purse } from '../support/dashboard/paying.js';

describe('the frame of the dashboard', function () {
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

  it('leads whoever is not signed in to the sign-in, and remembers where they wanted to go', async () => {
    const page = await visitor.open('/app/rentals');
    assert.equal(new URL(page.url()).pathname, '/login');
    assert.equal(new URL(page.url()).searchParams.get('returnTo'), '/app/rentals');
  });

  it('leads to each page by the navigation', async () => {
    await visitor.signIn();
    const page = await visitor.open('/app');
    for (const link of await page.getByRole('navigation').getByRole('listitem').getByRole('link').all()) {
      const title = await link.innerText();
      await link.click();
      await page.getByRole('heading', { level: 1, name: title.trim() }).waitFor();
    }
    assert.deepEqual(visitor.complaints, []);
  });

  it('keeps the chosen theme over a new load', async () => {
    await visitor.signIn();
    const page = await visitor.open('/app');
    await page.getByRole('radio', { name: 'Dark' }).check({ force: true });
    await page.reload();
    assert.equal(await page.getByRole('radio', { name: 'Dark' }).isChecked(), true);
    assert.equal(await page.evaluate(() => document.documentElement.dataset['theme']), 'dark');
  });

  it('leads the focus to the heading of a new page', async () => {
    await visitor.signIn();
    const page = await visitor.open('/app');
    await page.getByRole('link', { name: 'Invoices' }).click();
    await page.locator('h1:focus', { hasText: 'Invoices' }).waitFor();
  });

  it('has the way to four pages under the thumb on phones, and to all behind More', async () => {
    await visitor.signIn();
    await visitor.page.setViewportSize({ width: 390, height: 844 });
    const page = await visitor.open('/app');
    const bar = page.getByRole('navigation', { name: 'Pages' });
    assert.deepEqual(await bar.getByRole('link').allInnerTexts(), ['Overview', 'Rent', 'Rentals', 'Billing']);
    await bar.getByRole('button', { name: 'More' }).click();
    await page.getByRole('dialog').getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.deepEqual(visitor.complaints, []);
  });

  it('finds pages, machines and actions by their names', async () => {
    await visitor.signIn('palette@example.com');
    await new Purse(visitor).pay(50_000);
    const name = 'night run of the long experiment';
    const { id } = await visitor.ask<{ id: string }>('POST', '/v1/rentals', {
      data: { familyId: 'rtx-4090', gpuCount: 1, name },
    });
    const page = await visitor.open('/app');
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Go to' });
    await field.fill('long NIGHT');
    await page.getByRole('option', { name }).first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/app/rentals/${id}`);
    await page.getByRole('button', { name: 'Go to' }).click();
    await field.fill('web');
    assert.equal(await page.getByRole('option', { selected: true }).innerText(), 'Webhooks');
    await field.fill('theme dark');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.documentElement.dataset['theme']), 'dark');
    assert.deepEqual(visitor.complaints, []);
  });

  it('goes by the keyboard, and lists its keys', async () => {
    await visitor.signIn();
    const page = await visitor.open('/app');
    await page.keyboard.press('g');
    await page.keyboard.press('l');
    await page.waitForURL('**/app/ledger');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  });

  it('keeps its frame around an address that leads nowhere', async () => {
    await visitor.signIn();
    const page = await visitor.open('/app/no-such-page');
    await page.getByText('The address is wrong').waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Rentals' }).waitFor();
  });

  it('loads anew, once, when a page is gone after a deployment', async () => {
    await visitor.signIn();
    const page = await visitor.open('/app');
    let loads = 0;
    page.on('load', () => (loads += 1));
    await page.route(/assets\/budget-page/, (route) => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Budget' }).click();
    await page.getByRole('alert').waitFor();
    assert.equal(loads, 1);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Rentals' }).waitFor();
    await page.unroute(/assets\/budget-page/);
  });

  it('signs out', async () => {
    await visitor.signIn();
    const page = await visitor.open('/app');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL('**/login');
    const { status } = await page.evaluate(async () => {
      const answer = await fetch('/v1/auth/me');
      return { status: answer.status };
    });
    assert.equal(status, 401);
  });

  it('keeps nothing of who signed out, in any tab, where a refusal is faster than the answer', async () => {
    await visitor.signIn();
    const other = await visitor.context.newPage();
    await other.goto('/app/rentals');
    await other.getByRole('heading', { level: 1, name: 'Rentals' }).waitFor();
    const page = await visitor.open('/app');
    await page.route('**/v1/auth/logout', async (route) => {
      await route.fetch();
    });
    await page.getByRole('button', { name: 'Sign out' }).click();
    for (const tab of [page, other]) {
      await tab.waitForURL('**/login*');
      assert.equal(new URL(tab.url()).search, '');
    }
  });
});
