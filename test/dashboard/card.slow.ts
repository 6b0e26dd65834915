import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { findBarriers } from '../support/dashboard/axe.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { goBackTo, staysWhenLeft } from '../support/dashboard/going-back.js';
import { answerWith, Purse } from '../support/dashboard/paying.js';
import {
  callsOf,
  cardNumbers,
  clientSecret,
  standInForProcessor,
} from '../support/dashboard/processor-form.js';
import { until } from '../support/until.js';

describe('the page on which a card is entered', function () {
  this.timeout(90_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let people = 0;
  before(async () => {
    lab = await DashboardLab.start({ durations: { cardMs: 20 } });
  });
  after(() => lab.stop());
  beforeEach(async () => {
    visitor = await lab.visit();
    await visitor.signIn(`holder${(people += 1)}@example.com`);
  });
  afterEach(async () => {
    // A request that a test cuts off is Chromium's own line.
    const complaints = visitor.complaints.filter((line) => !line.includes('net::ERR_FAILED'));
    await visitor.close();
    assert.deepEqual(complaints, []);
  });

  const says = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
  const type = (page: Page, number: string) =>
    page.frameLocator('iframe').getByLabel('Card number').fill(number);
  const save = (page: Page) => page.getByRole('button', { name: 'Save this card' });

  describe('with a page that stands in for the processor’s form', () => {
    it('is reached from the billing page, leads there, and comes back to the saved card', async () => {
      const page = await visitor.open('/app/billing');
      await page.getByRole('link', { name: 'Save a card', exact: true }).click();
      await says(page, 'Card saved: Visa •••• 4242');
      assert.equal(new URL(page.url()).search, '?setup=succeeded');
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByText('Card saved').waitFor({ state: 'detached' });
      assert.deepEqual(visitor.outside, []);
    });

    it('waits for no card that was saved and removed again', async () => {
      const page = await visitor.open('/app/billing');
      await page.getByRole('link', { name: 'Save a card', exact: true }).click();
      await says(page, 'Card saved: Visa •••• 4242');
      await page.getByRole('button', { name: 'Remove' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await says(page, 'No saved card');
      await page.waitForURL((url) => url.search === '');
      await page.getByText(/Card saved|Waiting for the payment/).waitFor({ state: 'detached' });
    });

    it('does not take the card before for the new one', async () => {
      const card = { brand: 'visa', last4: '1111', expMonth: 1, expYear: 2040, pmId: 'pm_old' };
      await answerWith(visitor.page, 'GET', '/v1/billing/card', card);
      await visitor.page.goto('/app/card');
      await says(visitor.page, 'Waiting for the payment processor');
      assert.equal(await visitor.page.getByText('Card saved').count(), 0);
      await answerWith(visitor.page, 'GET', '/v1/billing/card', {
        ...card,
        ...{ brand: 'mastercard', last4: '4444', pmId: 'pm_new' },
      });
      await says(visitor.page, 'Card saved: Mastercard •••• 4444');
    });
  });

  describe('with the processor’s own form', () => {
    it('is open to everybody, in both themes, on phones and desks', async () => {
      await standInForProcessor(visitor.page);
      const page = await visitor.open('/app/card');
      await page.frameLocator('iframe').getByLabel('Card number').waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        for (const width of [390, 1_280]) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 844 });
          assert.deepEqual(await findBarriers(page), [], `${colorScheme}, ${width} px`);
        }
      }
    });

    it('saves the card by the form, with the secret of this setup, and asks nobody else', async () => {
      await standInForProcessor(visitor.page);
      const page = await visitor.open('/app/card');
      await type(page, cardNumbers.works);
      const [made] = (await callsOf(page)).elements;
      await save(page).click();
      await page.waitForURL('**/app/billing?setup=succeeded');
      await says(page, 'Waiting for the payment processor');
      await new Purse(visitor).saveCard();
      await says(page, 'Card saved: Visa •••• 4242');
      assert.equal(made?.clientSecret, clientSecret);
      assert.match(made.appearance.variables['colorPrimary'] ?? '', /^rgb\(/);
      const elsewhere = new Set(visitor.outside.map((url) => new URL(url).origin));
      assert.deepEqual([...elsewhere], ['https://js.stripe.com']);
    });

    it('confirms with the secret and an address to come back to', async () => {
      await standInForProcessor(visitor.page);
      const page = await visitor.open('/app/card');
      await type(page, cardNumbers.declined);
      await save(page).click();
      await page.getByRole('alert').getByText('Your card was declined.').waitFor();
      const calls = await callsOf(page);
      const returnUrl = `${lab.mock.url}/app/billing`;
      assert.deepEqual(calls.confirmed, [{ clientSecret, returnUrl, redirect: 'if_required' }]);
      assert.ok(calls.publishableKeys.includes('pk_test_standin'));
      await type(page, cardNumbers.works);
      await save(page).click();
      await page.waitForURL('**/app/billing?setup=succeeded');
    });

    for (const [number, text] of [
      ['42', 'Your card number is incomplete.'],
      [cardNumbers.silent, 'The payment processor did not accept it. Try again, or use another card.'],
    ] as const) {
      it(`tells what went wrong with ${number}, and can be sent again`, async () => {
        await standInForProcessor(visitor.page);
        const page = await visitor.open('/app/card');
        await type(page, number);
        await save(page).click();
        await page.getByRole('alert').getByText(text).waitFor();
        assert.equal(await save(page).isEnabled(), true);
      });
    }

    it('can be sent again by whoever went back to it', async () => {
      await standInForProcessor(visitor.page);
      const page = await visitor.open('/app/card');
      await type(page, cardNumbers.works);
      await staysWhenLeft(page, /\/app\/billing\?setup=/);
      await save(page).click();
      await page.getByRole('button', { name: 'Saving' }).waitFor();
      await goBackTo(page);
      await page.unroute(/\/app\/billing\?setup=/);
      await save(page).click();
      await page.waitForURL('**/app/billing?setup=succeeded');
    });

    it('takes a card for saved that a press before has saved', async () => {
      await standInForProcessor(visitor.page);
      const page = await visitor.open('/app/card');
      await type(page, cardNumbers.savedBefore);
      await save(page).click();
      await page.waitForURL('**/app/billing?setup=succeeded');
    });

    for (const [number, setup, text] of [
      [cardNumbers.approved, 'succeeded', 'Waiting for the payment processor'],
      [cardNumbers.refused, 'failed', 'No card was saved'],
    ] as const) {
      it(`comes back from the bank’s page without the secret in the address: ${setup}`, async () => {
        await standInForProcessor(visitor.page);
        const page = await visitor.open('/app/card');
        const leaks: string[] = [];
        page.on('request', (request) => {
          const isDocument = request.isNavigationRequest();
          const { referer = '' } = request.headers();
          if (referer.includes('_secret_') || (!isDocument && request.url().includes('_secret_'))) {
            leaks.push(request.url());
          }
        });
        await type(page, number);
        await save(page).click();
        await page.waitForURL(`**/app/billing?setup=${setup}`);
        await says(page, text);
        assert.deepEqual(leaks, []);
      });
    }

    it('says that the form did not load, and loads it when asked to', async () => {
      await standInForProcessor(visitor.page, { loads: false });
      const page = await visitor.open('/app/card');
      await says(page, 'The payment processor’s form did not load');
      await page.unroute('https://js.stripe.com/**');
      await standInForProcessor(page);
      await page.getByRole('button', { name: 'Try again' }).click();
      await type(page, cardNumbers.works);
      await until('it can be sent', () => save(page).isEnabled());
    });

    it('says so as well when the script came and its frame did not', async () => {
      await standInForProcessor(visitor.page, { formFails: true });
      await says(await visitor.open('/app/card'), 'The payment processor’s form did not load');
    });
  });

  it('says why it can’t begin, and asks for no script', async () => {
    for (const [code, text] of [
      ['billing_disabled', 'Payments are turned off here'],
      ['unauthorized', 'Sign in first'],
      ['forbidden', 'That did not work'],
    ] as const) {
      await visitor.fail('POST', '/v1/billing/setup-intent', code);
      const page = await visitor.open('/app/card');
      await page.getByRole('alert').getByText(text).waitFor();
      assert.deepEqual(visitor.outside, []);
    }
  });
});
