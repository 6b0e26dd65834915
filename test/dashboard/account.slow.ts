import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { AccountClosing } from '@gpu-rental/client';
import type { Page } from 'playwright-core';
import { allNoticeKinds, isOptional } from '../../domain/notices/kinds.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { until } from '../support/until.js';
import { assertReadAgain, failedRequest, readAgain } from '../support/dashboard/failures.js';
import { Renter } from '../support/dashboard/renter.js';

describe('the account in the dashboard', () => {
  let lab: DashboardLab;
  before(async () => {
    lab = await DashboardLab.start({ durations: { provisionMs: 20, endMs: 600_000 } });
  });
  after(() => lab.stop());

  describe('the page of the account', function () {
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
      await dialog().getByText('Your API keys stop working').waitFor();
    }

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

    it('waits for the newest amounts, and says where they can’t be read', async () => {
      await visitor.open('/app/account');
      await page.getByRole('button', { name: 'Close your account' }).waitFor();
      let isAway = true;
      await page.route('**/v1/account/closing', (route) =>
        isAway ? route.fulfill({ status: 500, body: '{}' }) : route.fallback(),
      );
      await page.getByRole('button', { name: 'Close your account' }).click();
      await dialog().getByLabel(`Type ${email} to confirm`).fill(email);
      await dialog().getByRole('alert').waitFor();
      assert.equal(await closeForGood().isDisabled(), true);
      isAway = false;
      const canClose = dialog().getByRole('button', { name: 'Close for good', disabled: false });
      await readAgain(dialog(), canClose);
      await dialog().getByRole('alert').waitFor({ state: 'detached' });
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
      await page.getByText('We are stopping whatever still runs.').waitFor();
      await page.getByText('Machines still shutting down').waitFor();
      await dialog().waitFor({ state: 'detached' });
      // What opened the dialog is gone with it.
      await until('the focus goes on', () => page.evaluate(() => document.activeElement !== document.body));
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
        await page.getByText('You can’t rent or add money').waitFor();
        assert.equal(await page.getByRole('button', { name: /^(Rent|Pay)/ }).count(), 0, path);
      }
      await page.getByRole('link', { name: 'See how far it is' }).click();
      await page.getByRole('heading', { name: 'Your account is being closed' }).waitFor();
      // As when it is closed, which ends every session.
      await page.context().clearCookies();
      await visitor.open('/app');
      await page.getByText('Once it is, signing in creates a new one.').waitFor();
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

    describe('with all of its data', () => {
      const exportCard = () => page.getByRole('region', { name: 'Export your data' });
      const download = () => exportCard().getByRole('button', { name: 'Download' });

      it('is saved by the browser, which is said', async () => {
        await visitor.open('/app/account');
        const saving = page.waitForEvent('download');
        await download().click();
        const saved = await saving;
        assert.match(saved.suggestedFilename(), /^account-\d{4}-\d\d-\d\d\.zip$/);
        assert.deepEqual([...readFileSync(await saved.path()).subarray(0, 2)], [...Buffer.from('PK')]);
        await exportCard().getByText('Your download has begun').waitFor();
      });

      it('asks who it is before, where the sign-in is not fresh', async () => {
        await page.route('**/v1/auth/me', async (route) => {
          const answer = await route.fetch();
          const me = (await answer.json()) as object;
          await route.fulfill({ response: answer, json: { ...me, freshUntil: null } });
        });
        await visitor.open('/app/account');
        await download().click();
        const saving = page.waitForEvent('download');
        await dialog('Confirm that it is you').getByLabel('Code from the email').fill('123456');
        await saving;
        await page.unrouteAll({ behavior: 'ignoreErrors' });
      });

      it('says why nothing came, in the service’s words', async () => {
        // A link can't be answered in the service's place: its archive comes, and no record of it.
        await page.route('**/v1/audit*', (route) =>
          route.fulfill({ json: { events: [], failedSignIns: [], nextCursor: null } }),
        );
        await visitor.fail('GET', '/v1/account/export', 'export_running');
        await visitor.open('/app/account');
        await download().click();
        await exportCard().getByText('Your account is being exported already.').waitFor();
        await failedRequest(exportCard()).waitFor();
      });
    });

    it('tells that it could not be read, and reads it when asked again', async () => {
      await assertReadAgain(visitor, {
        page: '/app/account',
        reads: '/v1/account/closing',
        shows: page.getByRole('button', { name: 'Close your account' }),
      });
    });
  });

  describe('the page of notices', function () {
    this.timeout(60_000);
    let visitor: Visitor;
    let page: Page;
    let users = 0;
    before(async () => {
      visitor = await lab.visit();
    });
    beforeEach(async () => {
      await visitor.signInAnew(`notices-${(users += 1)}@example.com`);
      page = visitor.page;
    });
    afterEach(() => page.unrouteAll());

    const lost = () => page.getByRole('switch', { name: 'Machine lost' });

    async function kindsThatAreOff(): Promise<string[]> {
      const { notices } = await visitor.ask<{ notices: { kind: string; on: boolean }[] }>(
        'GET',
        '/v1/notices',
      );
      return notices.filter(({ on }) => !on).map(({ kind }) => kind);
    }

    it('has a switch for each kind that may be off, and shows the others as always on', async () => {
      await visitor.open('/app/notices');
      await page.getByRole('heading', { name: 'You choose' }).waitFor();
      const optional = allNoticeKinds.filter(isOptional);
      assert.equal(await page.getByRole('switch').count(), optional.length);
      const always = page.getByRole('region', { name: 'Always sent' });
      assert.equal(await always.getByRole('listitem').count(), allNoticeKinds.length - optional.length);
      await always.getByText('Low balance').waitFor();
      await always.getByText('Payments', { exact: true }).waitFor();
      // Each kind has a title of its own.
      for (const item of await page.getByRole('main').getByRole('listitem').all()) {
        assert.equal(await item.locator('p').count(), 2, await item.innerText());
      }
    });

    it('saves a switch at once, by the keyboard too, and says so', async () => {
      await visitor.open('/app/notices');
      await lost().focus();
      await page.keyboard.press('Space');
      await page.getByRole('status').getByText('Saved').waitFor();
      assert.equal(await lost().getAttribute('aria-checked'), 'false');
      assert.deepEqual(await kindsThatAreOff(), ['rental_lost']);
      await page.reload();
      await lost().waitFor();
      assert.equal(await lost().getAttribute('aria-checked'), 'false');
      await lost().click();
      await page.getByRole('status').getByText('Saved').waitFor();
      assert.deepEqual(await kindsThatAreOff(), []);
    });

    it('goes back to what the service says when it was not saved, and tries again', async () => {
      await visitor.open('/app/notices');
      await visitor.fail('PUT', '/v1/notices', 'forbidden');
      await lost().click();
      await page.getByRole('alert').getByText('Not saved').waitFor();
      await failedRequest(page).waitFor();
      assert.equal(await lost().getAttribute('aria-checked'), 'true');
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('status').getByText('Saved').waitFor();
      assert.deepEqual(await kindsThatAreOff(), ['rental_lost']);
    });

    it('tells that the kinds could not be read, and reads them when asked again', async () => {
      await assertReadAgain(visitor, { page: '/app/notices', reads: '/v1/notices', shows: lost() });
    });
  });
});
