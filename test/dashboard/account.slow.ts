import assert from 'node:assert/strict';
import type { AccountClosing } from '@gpu-rental/client';
import type { Page } from 'playwright-core';
import { WAITS_AT_MOST_DAYS } from '../../clients/dashboard/src/texts/account.js';
import { closingLimits } from '../../domain/accounts/closing.js';
import { DAY } from '../../domain/durations.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { assertReadAgain, failedRequest } from '../support/dashboard/failures.js';
import { Renter } from '../support/dashboard/renter.js';

describe('the page of the account', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let email: string;
  let users = 0;
  before(async () => {
    lab = await DashboardLab.start({ durations: { provisionMs: 20, endMs: 600_000 } });
    visitor = await lab.visit();
  });
  after(() => lab.stop());
  beforeEach(async () => {
    email = `leaver-${(users += 1)}@example.com`;
    await visitor.signInAnew(email);
    page = visitor.page;
  });
  afterEach(() => page.unrouteAll());

  const dialog = (name = 'Close your account?') => page.getByRole('dialog', { name });
  const closeForGood = () => dialog().getByRole('button', { name: 'Close for good' });
  const closingOf = () => visitor.ask<AccountClosing>('GET', '/v1/account/closing');

  async function openDialog(): Promise<void> {
    await visitor.open('/app/account');
    await page.getByRole('button', { name: 'Close your account' }).click();
    await dialog().getByText('Your API keys end').waitFor();
  }

  it('names the days that the service waits', () => {
    assert.equal(WAITS_AT_MOST_DAYS, closingLimits.waitMs / DAY);
  });

  it('tells what closing does, and does nothing before the address is typed', async () => {
    const renter = new Renter(visitor);
    await renter.pay(2_000);
    await renter.rent();
    await openDialog();
    await dialog().getByText('1 machine stops at once. Everything on its disk is lost.').waitFor();
    await dialog()
      .getByText(/^\$\d+\.\d\d to Visa •••• 4242$/)
      .waitFor();
    assert.equal(await closeForGood().isDisabled(), true);
    const field = dialog().getByLabel(`Type ${email} to confirm`);
    await field.and(page.locator(':focus')).waitFor();
    await page.keyboard.type('somebody@example.com');
    await page.keyboard.press('Enter');
    assert.equal(await closeForGood().isDisabled(), true);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Close your account' }).and(page.locator(':focus')).waitFor();
    assert.equal((await closingOf()).state, null);
  });

  it('closes after a fresh proof, tells how far it is, and offers nothing new any more', async () => {
    const renter = new Renter(visitor);
    await renter.pay(2_000);
    await renter.rent();
    let isFresh = false;
    page.on('response', (answer) => {
      if (answer.url().endsWith('/refresh-proof') && answer.request().postData()?.includes('code'))
        isFresh = true;
    });
    await page.route('**/v1/account/close', (route, request) =>
      isFresh
        ? route.fallback()
        : route.continue({ headers: { ...request.headers(), 'x-mock-failure': 'fresh_sign_in_required' } }),
    );
    await openDialog();
    await page.keyboard.type(email.toUpperCase());
    await closeForGood().click();
    await dialog('Confirm that it is you').getByLabel('Code from the email').fill('123456');
    await page.getByRole('heading', { name: 'Your account is being closed' }).waitFor();
    await page.getByText('Your machines are ending.').waitFor();
    await page.getByText('Machines not gone yet').waitFor();
    await dialog().waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => document.activeElement === document.body), false);
    assert.equal((await closingOf()).state, 'stopping');
    const note = page.getByText('Your account is being closed. See how far it is');
    assert.equal(await note.isVisible(), false, 'its own page tells all of it');
    await visitor.open('/app');
    await note.waitFor();
    assert.equal(
      await page
        .getByRole('main')
        .getByRole('link', { name: /^(Rent|Add money)/ })
        .count(),
      0,
    );
    for (const path of ['/app/rent/rtx-4090', '/app/billing']) {
      await visitor.open(path);
      await page.getByText('Nothing new can begin').waitFor();
      assert.equal(await page.getByRole('button', { name: /^(Rent|Pay)/ }).count(), 0, path);
    }
    await page.getByRole('link', { name: 'See how far it is' }).click();
    await page.getByRole('heading', { name: 'Your account is being closed' }).waitFor();
  });

  it('shows that the account is being closed when the answer is lost', async () => {
    await page.route('**/v1/account/close', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await openDialog();
    await page.keyboard.type(email);
    await closeForGood().click();
    await page.getByRole('heading', { name: 'Your account is being closed' }).waitFor();
    assert.notEqual((await closingOf()).state, null);
  });

  it('says in the question that it could not be closed', async () => {
    await openDialog();
    await visitor.fail('POST', '/v1/account/close', 'forbidden');
    await page.keyboard.type(email);
    await closeForGood().click();
    await failedRequest(dialog()).waitFor();
    assert.equal((await closingOf()).state, null);
  });

  it('tells that it could not be read, and reads it when asked again', async () => {
    await assertReadAgain(visitor, {
      page: '/app/account',
      reads: '/v1/account/closing',
      shows: page.getByRole('button', { name: 'Close your account' }),
    });
  });
});
