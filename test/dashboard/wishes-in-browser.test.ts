import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { Purse, watchRequests } from '../support/dashboard/paying.js';
import { Renter } from '../support/dashboard/renter.js';
import { until } from '../support/until.js';

const CHECKOUT = '/v1/billing/checkout';

describe('what was sent from a page that is gone', function () {
  this.timeout(90_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let renter: Renter;
  let purse: Purse;
  before(async () => {
    lab = await DashboardLab.start({ durations: { cardMs: 20 } });
  });
  after(() => lab.stop());
  beforeEach(async () => {
    visitor = await lab.visit();
    ({ page } = visitor);
    renter = await Renter.signIn(visitor, { cents: 30_000 });
    purse = new Purse(visitor);
    await purse.saveCard();
  });
  afterEach(() => visitor.close());

  const says = (text: string | RegExp, on = page) => on.getByText(text).first().waitFor();
  const payButton = (on = page) => on.getByRole('button', { name: /^Pay / });
  const payments = async () => (await purse.topups()).filter(({ amountCents }) => amountCents === 2_500);
  const stored = (on = page) =>
    on.evaluate(() => Object.keys(sessionStorage).filter((key) => key.startsWith('wish')));

  /** Presses the button of a form, and has the answer never come; `isLost`: nor does the request. */
  async function sendInVain(path: string, button: string | RegExp, isLost = false): Promise<void> {
    let isSent = false;
    await page.route(`**${path}`, async (route, request) => {
      if (request.method() !== 'POST') return route.fallback();
      if (!isLost) await route.fetch();
      isSent = true;
    });
    await page.getByRole('button', { name: button }).click();
    await until('it is sent', () => isSent);
  }

  it('is told after a load, and sent by no press; the same once more takes one press more', async () => {
    const sent = watchRequests(page, 'POST', CHECKOUT);
    await visitor.open('/app/billing');
    await sendInVain(CHECKOUT, /^Pay \$25/);
    await page.reload();
    await says('Your payment of $25.00 went through');
    assert.deepEqual([sent.keys.length, (await payments()).length], [1, 1]);
    await until('it is forgotten', async () => (await stored()).length === 0);
    await page.unroute(`**${CHECKOUT}`);
    await payButton().click();
    await says(/^You paid \$25\.00 /);
    assert.equal(sent.keys.length, 1);
    await page.getByRole('button', { name: 'Pay another $25.00' }).click();
    await says('$25.00 is in your wallet');
    assert.equal((await payments()).length, 2);
    // A number of its own, and nothing is left of it after a load.
    assert.equal(new Set(sent.keys).size, 2);
    await page.reload();
    await payButton().waitFor();
    assert.equal(await page.getByText('Your payment of').count(), 0);
  });

  it('is still open while it may yet come, and did not go through when it came not', async () => {
    await visitor.open('/app/billing');
    await sendInVain(CHECKOUT, /^Pay \$25/, true);
    await page.reload();
    await says('Your payment of $25.00 is still open');
    assert.equal(await payButton().count(), 0);
    await page.evaluate(() => {
      const wish = JSON.parse(sessionStorage.getItem('wish:topup') ?? '') as { atMs: number };
      sessionStorage.setItem('wish:topup', JSON.stringify({ ...wish, atMs: wish.atMs - 61_000 }));
    });
    await page.reload();
    await says('Your payment of $25.00 did not go through');
    await payButton().waitFor();
    assert.deepEqual(await payments(), []);
  });

  it('is dropped by a tab that was duplicated, and no matter of another one', async () => {
    await visitor.open('/app/billing');
    await sendInVain(CHECKOUT, /^Pay \$25/);
    const [duplicate] = await Promise.all([
      visitor.context.waitForEvent('page'),
      page.evaluate(() => void open('/app/billing')),
    ]);
    const other = await visitor.context.newPage();
    await other.goto('/app/billing');
    for (const tab of [duplicate, other]) {
      await payButton(tab).waitFor();
      assert.deepEqual(await stored(tab), []);
      assert.equal(await tab.getByText('Your payment of').count(), 0);
      // What was paid from any tab is asked about in each.
      await payButton(tab).click();
      await says(/^You paid \$25\.00 /, tab);
    }
    await page.reload();
    await says('Your payment of $25.00 went through');
    assert.equal((await payments()).length, 1);
  });

  it('is told on the way back, and forgotten when somebody signs out', async () => {
    await visitor.open('/app/billing');
    await sendInVain(CHECKOUT, /^Pay \$25/, true);
    await page.goto('about:blank');
    await page.goBack();
    await says('Your payment of $25.00 is still open');
    assert.deepEqual(await stored(), ['wish:topup']);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Email address').waitFor();
    assert.deepEqual(await stored(), []);
  });

  it('is told of a machine, which leads to it', async () => {
    await visitor.open('/app/rent/rtx-4090');
    await sendInVain('/v1/rentals', /^Rent for/);
    await page.reload();
    await says(/^You rented 1 × /);
    await page.unroute('**/v1/rentals');
    await page.getByRole('button', { name: /^Rent for/ }).click();
    await says(/^You rented the same kind of machine /);
    assert.equal((await renter.rentals()).length, 1);
    await page.getByRole('link', { name: 'View rental', exact: true }).click();
    await page.waitForURL(/\/app\/rentals\/rent_/);
  });

  it('leads nobody to the payment page who has gone elsewhere meanwhile, and Billing leads on', async () => {
    await visitor.ask('DELETE', '/v1/billing/card');
    await visitor.open('/app/billing');
    let answer = (): void => undefined;
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
    await page.route(`**${CHECKOUT}`, async (route) => {
      const response = await route.fetch();
      await mayAnswer;
      await route.fulfill({ response });
    });
    await payButton().click();
    await until('it is made', async () => (await payments()).length === 1);
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    const isAnswered = page.waitForResponse((response) => response.url().endsWith(CHECKOUT));
    answer();
    await isAnswered;
    await page.getByRole('link', { name: 'Billing', exact: true }).click();
    const [opened] = await payments();
    const link = page.getByRole('link', { name: 'Go to the payment page' });
    assert.equal(await link.getAttribute('href'), opened?.checkoutUrl);
    assert.equal(opened?.status, 'requires_payment');
    // Another one is opened meanwhile: what is told on the way back is the one that was gone on with.
    await purse.checkout(9_900);
    await link.click();
    await says('$25.00 has arrived');
  });

  it('charges once where the browser stores nothing', async () => {
    await page.addInitScript({
      content: `Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('', 'SecurityError'); } })`,
    });
    await visitor.open('/app/billing');
    await payButton().click();
    await says('$25.00 is in your wallet');
    assert.equal((await payments()).length, 1);
  });
});
