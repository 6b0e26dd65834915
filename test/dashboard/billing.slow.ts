import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { goBackTo, staysWhenLeft } from '../support/dashboard/going-back.js';
import { answerWith, Purse, watchRequests } from '../support/dashboard/paying.js';
import { until } from '../support/until.js';

const [CHECKOUT, CARD] = ['/v1/billing/checkout', '/v1/billing/card'];

describe('the billing page', function () {
  this.timeout(120_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let purse: Purse;
  let people = 0;
  before(async () => {
    lab = await DashboardLab.start({ durations: { cardMs: 20 } });
  });
  after(() => lab.stop());
  beforeEach(async () => {
    visitor = await lab.visit();
    purse = new Purse(visitor);
    await visitor.signIn(`payer${(people += 1)}@example.com`);
  });
  afterEach(async () => {
    // A request that a test cuts off is Chromium's own line.
    const complaints = visitor.complaints.filter((line) => !line.includes('net::ERR_FAILED'));
    await visitor.close();
    assert.deepEqual(complaints, []);
  });

  const pay = (page: Page) => page.getByRole('button', { name: /^(Pay|Add money)/ });
  const amount = (page: Page) => page.getByLabel('Amount', { exact: true });
  const available = (page: Page, money: string) =>
    page.locator('dl').getByText(money, { exact: true }).first().waitFor();
  const says = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

  describe('without a card', () => {
    it('pays on the payment page, and comes back to the money that arrived', async () => {
      const page = await visitor.open('/app/billing');
      await page.getByRole('button', { name: '$50', exact: true }).click();
      await pay(page).click();
      await says(page, '$50.00 has arrived');
      assert.equal(new URL(page.url()).search, '?session=success');
      await available(page, '$50.00');
      await page.getByRole('button', { name: 'Done' }).click();
      await page.waitForURL((url) => url.search === '');
      await page.getByText('has arrived').waitFor({ state: 'detached' });
      assert.deepEqual(
        (await purse.topups()).map(({ amountCents, status }) => [amountCents, status]),
        [[5_000, 'succeeded']],
      );
    });

    it('can be paid by whoever went back from the payment page', async () => {
      const page = await visitor.open('/app/billing');
      await staysWhenLeft(page, /\/mock\/checkout\//);
      await page.getByRole('button', { name: '$50', exact: true }).click();
      await pay(page).click();
      await page.getByRole('button', { name: 'Opening' }).waitFor();
      await goBackTo(page);
      await page.unrouteAll();
      await pay(page).click();
      await says(page, '$50.00 has arrived');
    });

    it('tells the limits before it sends anything', async () => {
      const page = await visitor.open('/app/billing');
      const sent = watchRequests(page, 'POST', CHECKOUT);
      await says(page, 'From $1.00 to $5,000.00');
      for (const [text, error] of [
        ['0.99', 'The smallest top-up is $1.00.'],
        ['5000.01', /^The largest top-up is \$5,000\.00\./],
        ['12.345', /^Enter an amount in dollars/],
        ['', /^Enter an amount in dollars/],
      ] as const) {
        await amount(page).fill(text);
        await amount(page).press('Enter');
        await says(page, error);
      }
      assert.deepEqual(sent.keys, []);
    });

    it('begins with the amount that another page names', async () => {
      const page = await visitor.open('/app/billing?amountCents=1234');
      await until('the amount stands there', async () => (await amount(page).inputValue()) === '12.34');
    });

    it('makes one payment of two presses', async () => {
      const page = await visitor.open('/app/billing');
      const sent = watchRequests(page, 'POST', CHECKOUT);
      await pay(page).dblclick();
      await says(page, '$25.00 has arrived');
      assert.deepEqual([sent.keys.length, (await purse.topups()).length], [1, 1]);
    });
  });

  describe('after a visit to the payment page', () => {
    it('claims no money before the service tells of it, and then tells it by itself', async () => {
      const { checkoutUrl } = await purse.checkout(7_700);
      const page = await visitor.open('/app/billing?session=success');
      await says(page, 'Waiting for the payment processor');
      assert.equal(await page.getByText('has arrived').count(), 0);
      await purse.payOn(checkoutUrl);
      await says(page, '$77.00 has arrived');
      await available(page, '$77.00');
    });

    it('says that nothing was charged, and leads back to the page', async () => {
      const { checkoutUrl } = await purse.checkout(4_200);
      await visitor.page.goto(`${checkoutUrl}?outcome=cancel`);
      await says(visitor.page, 'You were not charged');
      assert.equal(new URL(visitor.page.url()).search, '?session=cancel');
      await visitor.page.getByRole('link', { name: 'Continue paying $42.00' }).click();
      await says(visitor.page, '$42.00 has arrived');
    });

    it('tells a failed payment in the bank’s word, and a page that has expired', async () => {
      const topup = await purse.topup((await purse.checkout(1_000)).topupId);
      const failed = { ...topup, status: 'failed', declineCode: 'insufficient_funds', checkoutUrl: null };
      await answerWith(visitor.page, 'GET', '/v1/billing/topups', { topups: [failed], nextCursor: null });
      await visitor.open('/app/billing?session=success');
      await says(visitor.page, 'The payment failed');
      await says(visitor.page, /The card has insufficient funds/);
      const expired = { ...topup, status: 'expired', checkoutUrl: null };
      await answerWith(visitor.page, 'GET', '/v1/billing/topups', { topups: [expired], nextCursor: null });
      await visitor.open('/app/billing?session=success');
      await says(visitor.page, 'The payment page has expired');
    });
  });

  describe('with a saved card', () => {
    beforeEach(() => purse.saveCard());

    it('charges it, once, and says what came in', async () => {
      const page = await visitor.open('/app/billing');
      await amount(page).fill('12.34');
      await page.getByRole('button', { name: 'Pay $12.34 with Visa •••• 4242' }).click();
      await says(page, '$12.34 is in your wallet');
      await available(page, '$12.34');
      await page.getByRole('button', { name: 'Add more' }).click();
      await pay(page).click();
      await says(page, /^You paid \$12\.34 /);
      assert.equal(await pay(page).count(), 1, 'nothing but the answer to the question pays');
      await amount(page).fill('12.35');
      await page.getByText(/^You paid/).waitFor({ state: 'detached' });
      await amount(page).fill('12.34');
      await pay(page).click();
      await page.getByRole('button', { name: 'Pay another $12.34' }).click();
      await until('there are two', async () => (await purse.topups()).length === 2);
    });

    it('does not know how it ended after silence, and asks again for the same payment', async () => {
      const page = await visitor.open('/app/billing');
      const sent = watchRequests(page, 'POST', CHECKOUT);
      // The payment is made, and its answer is lost.
      await page.route(`**${CHECKOUT}`, async (route) => {
        await route.fetch();
        await route.abort();
      });
      await pay(page).click();
      await page.getByText('We don’t know yet whether this went through').waitFor({ timeout: 30_000 });
      assert.equal(await amount(page).isDisabled(), true, 'the amount is that of the payment');
      await page.unroute(`**${CHECKOUT}`);
      await page.getByRole('button', { name: 'Check again' }).click();
      await says(page, '$25.00 is in your wallet');
      assert.equal(new Set(sent.keys).size, 1);
      assert.equal((await purse.topups()).length, 1);
    });

    it('leads to the payment page where the card may not be charged', async () => {
      const page = await visitor.open('/app/billing');
      const checkoutUrl = `${lab.mock.url}/mock/checkout/cs_1`;
      const body = { checkoutUrl, sessionId: 'cs_1', topupId: 'top_1', status: 'requires_payment' };
      await answerWith(page, 'POST', CHECKOUT, body);
      await pay(page).click();
      await says(page, 'Your card was not charged');
      const link = page.getByRole('link', { name: 'Go to the payment page' });
      assert.equal(await link.getAttribute('href'), checkoutUrl);
    });

    it('waits while the bank decides, and says how it did', async () => {
      const page = await visitor.open('/app/billing');
      const { topupId } = await purse.checkout(1_234);
      const paid = await purse.topup(topupId);
      const processing = { ...paid, status: 'processing', creditedCents: null, receiptUrl: null };
      const charge = {
        checkoutUrl: null,
        sessionId: null,
        topupId,
        amountCents: 2_500,
        processorChargeId: null,
      };
      await answerWith(page, 'POST', CHECKOUT, { ...charge, status: 'processing' });
      await answerWith(page, 'GET', `/v1/billing/topups/${topupId}`, processing);
      await pay(page).click();
      await says(page, 'Your bank is processing $25.00');
      assert.equal(await page.getByText('is in your wallet').count(), 0);
      const failed = { ...processing, status: 'failed', declineCode: 'insufficient_funds' };
      await answerWith(page, 'GET', `/v1/billing/topups/${topupId}`, failed);
      await says(page, 'The payment failed');
      await says(page, /The card has insufficient funds/);
    });
  });

  describe('when a payment is refused', () => {
    const refusals = [
      ['card_declined', 'The payment failed', 'The card has insufficient funds.'],
      ['billing_disabled', 'Payments are turned off here', 'This installation takes no payments.'],
      ['blocked', 'This account can’t add money right now', 'This account is blocked. Contact support.'],
      ['charge_in_progress', 'We are already charging $20.00', 'We charge your card one payment at a time'],
      ['invalid_amount', 'That did not work', 'amountCents'],
      ['idempotency_conflict', 'That did not work', 'You already used this Idempotency-Key'],
      ['internal_error', 'We don’t know yet whether this went through', 'it is the same payment of $25.00'],
    ] as const;
    it('says what each refusal means, and keeps the amount', async () => {
      const page = await visitor.open('/app/billing');
      for (const [code, title, text] of refusals) {
        await visitor.fail('POST', CHECKOUT, code);
        await pay(page).click();
        await page.getByRole('alert').getByText(title).waitFor({ timeout: 30_000 });
        await page.getByRole('alert').getByText(text, { exact: false }).waitFor();
        assert.equal(await amount(page).inputValue(), '25');
        await page.unrouteAll();
      }
      assert.deepEqual(await purse.topups(), []);
    });

    it('tries a decline again as a payment of its own', async () => {
      await purse.saveCard('declines');
      const page = await visitor.open('/app/billing');
      const sent = watchRequests(page, 'POST', CHECKOUT);
      await pay(page).click();
      await says(page, 'The payment failed');
      assert.equal(
        await page.getByRole('link', { name: 'Use another card' }).getAttribute('href'),
        '/app/card',
      );
      await page.getByRole('button', { name: 'Try again' }).click();
      await until('it was sent twice', () => sent.keys.length === 2);
      assert.equal(new Set(sent.keys).size, 2);
    });
  });

  describe('the saved card', () => {
    it('is removed after a question that tells what stops with it', async () => {
      await purse.saveCard();
      await purse.saveAutoTopup({ enabled: true, thresholdCents: 1_000, topupAmountCents: 2_500 });
      const page = await visitor.open('/app/billing');
      await page.getByRole('button', { name: 'Remove' }).click();
      const dialog = page.getByRole('dialog', { name: 'Remove Visa •••• 4242?' });
      await dialog.getByText(/no longer add \$25\.00 when less than \$10\.00 is left/).waitFor();
      await visitor.fail('DELETE', '/v1/billing/card', 'forbidden');
      await dialog.getByRole('button', { name: 'Remove' }).click();
      await dialog.getByRole('alert').waitFor();
      await page.unrouteAll();
      await dialog.getByRole('button', { name: 'Remove' }).click();
      await dialog.waitFor({ state: 'detached' });
      await says(page, 'No saved card');
      await says(page, 'Automatic top-ups were turned off');
      await says(page, /^Your card was removed\./);
    });

    it('warns of a card that has expired, and of one that is about to', async () => {
      const [year, month] = [new Date().getUTCFullYear(), new Date().getUTCMonth() + 1];
      for (const [expYear, expMonth, text] of [
        [2020, 1, 'We can’t charge it any more. Replace it.'],
        [year, month, 'Replace it before automatic top-ups stop.'],
      ] as const) {
        const card = { brand: 'mastercard', last4: '4444', expMonth, expYear, pmId: 'pm_1' };
        await answerWith(visitor.page, 'GET', '/v1/billing/card', card);
        await says(await visitor.open('/app/billing'), text);
      }
    });
  });

  describe('automatic top-ups', () => {
    it('ask for a card first', async () => {
      const page = await visitor.open('/app/billing');
      const link = page.getByRole('link', { name: 'Save a card first' });
      assert.equal(await link.getAttribute('href'), '/app/card');
      assert.equal(await page.getByRole('button', { name: 'Turn on' }).isDisabled(), true);
    });

    it('are switched on with what was typed, changed, and switched off', async () => {
      await purse.saveCard();
      const page = await visitor.open('/app/billing');
      await page.getByRole('button', { name: 'Turn on' }).click();
      await page.getByLabel('When available balance falls below').fill('0.50');
      await page.getByLabel('Maximum in 24 hours').fill('20');
      await page.getByRole('button', { name: 'Turn on' }).click();
      await says(page, 'Enter an amount from $1.00 to $1,000.00.');
      await says(page, 'With less than $25.00 we could never charge your card.');
      await page.getByLabel('When available balance falls below').fill('7.50');
      await page.getByLabel('Maximum in 24 hours').fill('100');
      await page.getByRole('button', { name: 'Turn on' }).click();
      await says(page, 'Adds $25.00 when less than $7.50 is available.');
      await says(page, 'At most $100.00 in 24 hours.');
      await page.getByRole('button', { name: 'Change' }).click();
      await page.getByLabel('Maximum in 24 hours').fill('');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await says(page, 'No daily limit of your own.');
      await page.getByRole('button', { name: 'Turn off' }).click();
      await page.getByRole('button', { name: 'Turn on' }).waitFor();
    });

    it('say what each refusal means, and keep what was typed', async () => {
      await purse.saveCard();
      const page = await visitor.open('/app/billing');
      await page.getByRole('button', { name: 'Turn on' }).click();
      await page.getByLabel('Add', { exact: true }).fill('33');
      for (const [code, title] of [
        ['no_saved_card', 'You have no card to charge'],
        ['billing_disabled', 'Payments are turned off here'],
        ['blocked', 'That did not work'],
      ] as const) {
        await visitor.fail('PUT', '/v1/billing/auto-topup', code);
        await page.getByRole('button', { name: 'Turn on' }).click();
        await page.getByRole('alert').getByText(title).waitFor();
        assert.equal(await page.getByLabel('Add', { exact: true }).inputValue(), '33');
        await page.unrouteAll();
      }
    });

    it('say why the service stopped them', async () => {
      for (const [disabledReason, text] of [
        ['charge_failed', /^We could not charge your card\./],
        ['card_removed', /^Your card was removed\./],
        ['card_expired', /^Your card has expired\./],
        ['charges_held', /^One of your payments was disputed/],
      ] as const) {
        const off = { enabled: false, thresholdCents: 500, topupAmountCents: 2_000, dailyCapCents: null };
        const settings = { ...off, disabledReason, nextAttemptAt: null };
        await answerWith(visitor.page, 'GET', '/v1/billing/auto-topup', settings);
        await says(await visitor.open('/app/billing'), text);
      }
    });

    it('tell from when on the card may be charged again', async () => {
      const on = { enabled: true, thresholdCents: 500, topupAmountCents: 2_000, dailyCapCents: null };
      const nextAttemptAt = new Date(Date.now() + 240_000).toISOString();
      const settings = { ...on, disabledReason: null, nextAttemptAt };
      await answerWith(visitor.page, 'GET', '/v1/billing/auto-topup', settings);
      await says(await visitor.open('/app/billing'), /the next charge can follow at/);
    });
  });

  describe('the list of top-ups', () => {
    it('leads on to the page of one, and tells of that one on the way back', async () => {
      const { checkoutUrl } = await purse.checkout(4_200);
      await purse.checkout(7_700);
      const page = await visitor.open('/app/billing');
      await page.locator(`a[href="${checkoutUrl}"]`).click();
      await says(page, '$42.00 has arrived');
    });

    it('says that there is none', async () => {
      await says(await visitor.open('/app/billing'), 'No top-ups yet');
    });

    it('shows all of them, page by page', async () => {
      await purse.saveCard();
      for (let number = 1; number <= 23; number += 1) await purse.checkout(100 + number);
      const page = await visitor.open('/app/billing');
      const rows = page.getByRole('region', { name: 'Top-ups' }).getByRole('listitem');
      await until('the first page is there', async () => (await rows.count()) === 20);
      await page.getByRole('button', { name: 'Show more' }).click();
      await until('the second page is there', async () => (await rows.count()) === 23);
      assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0);
      assert.match((await rows.last().textContent()) ?? '', /\$1\.01/);
    });
  });

  it('says what failed to be read, with the request’s id, and reads it again when asked to', async () => {
    const paths = ['balance', 'config', 'auto-topup', 'topups'].map((what) => `/v1/billing/${what}`);
    for (const path of [CARD, ...paths]) {
      await visitor.fail('GET', path, 'forbidden');
      const page = await visitor.open('/app/billing');
      const note = page.getByRole('alert').filter({ hasText: 'That did not work' }).first();
      await note.getByText(/^Request /).waitFor();
      if (path === CARD) await page.getByRole('region', { name: 'Add money' }).getByRole('alert').waitFor();
      if (path === CARD) assert.equal(await pay(page).count(), 0, 'nobody knows who would be charged');
      const asked = watchRequests(page, 'GET', path);
      await note.getByRole('button', { name: 'Try again' }).click();
      await until('it was asked for again', () => asked.keys.length > 0);
      await page.unrouteAll();
      await until('it is there', async () => {
        if ((await page.getByRole('alert').count()) === 0) return true;
        // What happened meanwhile may have it read by itself.
        await note
          .getByRole('button')
          .click({ timeout: 500 })
          .catch(() => undefined);
        return false;
      });
    }
  });
});
