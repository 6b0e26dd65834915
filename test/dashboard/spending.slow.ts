import assert from 'node:assert/strict';
import type { OpenedRental } from '@gpu-rental/client';
import type { Page } from 'playwright-core';
import { budgetLimits, readFields, sharesOf } from '../../clients/dashboard/src/pages/budget/budget-form.js';
import { budgetTexts } from '../../clients/dashboard/src/texts/budget.js';
import { spendingLimits } from '../../domain/spending/limits.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { failedRequest, readAgain } from '../support/dashboard/failures.js';
import { accountOf } from '../support/dashboard/ledgers.js';
import { answerWith } from '../support/dashboard/paying.js';
import { until } from '../support/until.js';

const DAY = 86_400_000;
const day = (ago: number): string => new Date(Date.now() - ago * DAY).toISOString().slice(0, 10);
const shown = (ago: number): string =>
  new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' }).format(Date.now() - ago * DAY);

describe('spending and its limits in the dashboard', () => {
  let lab: DashboardLab;
  before(async () => {
    // Nothing runs, so nothing is charged but what a test writes.
    lab = await DashboardLab.start({ durations: { provisionMs: 3_600_000 } });
  });
  after(() => lab.stop());

  describe('spending in the dashboard', function () {
    this.timeout(90_000);
    let visitor: Visitor;
    let page: Page;
    let email: string;
    let people = 0;

    beforeEach(async () => {
      visitor = await lab.visit();
      ({ page } = visitor);
      people += 1;
      email = `spender${people}@example.com`;
      await visitor.signIn(email);
    });
    afterEach(() => visitor.close());

    const days = () => page.getByRole('region', { name: 'Days and rentals' });
    const line = (text: string) => days().getByRole('listitem').filter({ hasText: text }).last();
    const rent = async (name?: string): Promise<string> => {
      const data = { familyId: 'rtx-4090', gpuCount: 1, ...(name !== undefined && { name }) };
      return (await visitor.ask<OpenedRental>('POST', '/v1/rentals', { data })).id;
    };

    /** Writes that many cents of charges, so many days ago at noon (UTC). */
    function charge(rentalId: string, ago: number, cents: number): void {
      accountOf(lab.mock, email).wallet.post({
        ...{ type: 'rental_charge', rentalId: rentalId as `rent_${string}` },
        ...{ availableCents: -cents, at: new Date(`${day(ago)}T12:00:00Z`) },
      });
    }

    /** Two rentals that cost something yesterday, and one of them also 40 days ago. */
    async function spend(): Promise<{ readonly training: string; readonly unnamed: string }> {
      const { wallet } = accountOf(lab.mock, email);
      wallet.post({ type: 'processor_topup', availableCents: 100_000, at: new Date(`${day(50)}T12:00:00Z`) });
      const [training, unnamed] = [await rent('training'), await rent()];
      charge(training, 40, 900);
      charge(training, 1, 250);
      charge(unnamed, 1, 1_075);
      return { training, unnamed };
    }

    it('groups charges by day and rental, and leads to the entries one by one', async () => {
      const { training, unnamed } = await spend();
      await visitor.open('/app/ledger');
      await days().getByText(shown(1)).waitFor();
      const [first, second] = await days().getByRole('listitem').getByRole('listitem').allInnerTexts();
      assert.match(first ?? '', /^1 × RTX 4090\s+Entries\s+\$10\.75$/);
      assert.match(second ?? '', /^training\s+1 × RTX 4090\s+Entries\s+\$2\.50$/);
      const chart = page.getByRole('slider', { name: 'Spending by day, up to $13.25 a day' });
      const said = () => chart.getAttribute('aria-valuetext');
      await chart.focus();
      const newest = await said();
      await chart.press('ArrowLeft');
      await until('the day before is told', async () => (await said()) !== newest);
      assert.match((await said()) ?? '', /^\w{3} \d+, \d{4}: \$\d+\.\d\d, balance \$\d+\.\d\d$/);
      await page.getByText((await said()) ?? '').waitFor();
      await chart.press('End');
      await until('the newest day is told', async () => (await said()) === newest);
      const spent = page.getByText('Spent', { exact: true }).locator('..');
      await spent.getByText('$13.25').waitFor();
      assert.equal(
        await line('1 × RTX 4090').getByRole('link').first().getAttribute('href'),
        `/app/rentals/${training}`,
      );
      assert.ok((await days().innerHTML()).includes(`/app/rentals/${unnamed}`));
      await page.getByRole('link', { name: `Entries of training on ${shown(1)}` }).click();
      await page.getByRole('grid').getByText('-$2.50').waitFor();
      assert.equal(await page.getByRole('grid').getByText('-$10.75').count(), 0);
      assert.equal(await page.getByLabel('Rental', { exact: true }).inputValue(), 'training');
      assert.deepEqual(visitor.complaints, []);
    });

    it('steps through the days, and keeps them in the address', async () => {
      await spend();
      await visitor.open('/app/ledger');
      await days().getByText(shown(1)).waitFor();
      await page.getByRole('button', { name: 'Earlier' }).click();
      await page.waitForURL(`**/app/ledger?until=${day(30)}`);
      await days().getByText(shown(40)).waitFor();
      assert.equal(await days().getByText(shown(1)).count(), 0);
      await page.getByText('Balance after these days').locator('..').getByText('$991.00').waitFor();
      assert.ok(await page.getByRole('button', { name: 'Earlier' }).isDisabled());
      await page.getByRole('button', { name: 'Later' }).click();
      await page.waitForURL('**/app/ledger');
      await days().getByText(shown(1)).waitFor();
    });

    it('moves no line under the pointer, and shows what is new when asked', async () => {
      const { training } = await spend();
      await visitor.open('/app/ledger');
      await line('training').hover();
      await visitor.ask('PATCH', `/v1/rentals/${training}`, { data: { name: 'renamed' } });
      const update = page.getByRole('button', { name: 'Update' });
      await update.waitFor();
      assert.ok(await line('training').isVisible());
      await update.click();
      await line('renamed').waitFor();
      await update.waitFor({ state: 'detached' });
      // Where nobody holds them, the days follow.
      await page.mouse.move(0, 0);
      await page.getByRole('heading', { name: 'Ledger' }).focus();
      await visitor.ask('PATCH', `/v1/rentals/${training}`, { data: { name: 'again' } });
      await line('again').waitFor();
    });

    it('filters entries by the names of rentals, which a rental’s page leads to', async () => {
      const { training, unnamed } = await spend();
      const field = page.getByLabel('Rental', { exact: true });
      await visitor.open(`/app/rentals/${training}`);
      await page.getByRole('link', { name: 'Ledger entries' }).click();
      await page.waitForURL(`**/app/ledger?rental=${training}`);
      await page.getByText('2 entries', { exact: true }).waitFor();
      assert.equal(await field.inputValue(), 'training');
      await field.fill('1 × RTX 4090');
      await page.waitForURL(`**/app/ledger?rental=${unnamed}`);
      await page.getByRole('grid').getByText('1 × RTX 4090').waitFor();
      await field.fill('nobody’s');
      await field.press('Enter');
      await page.getByText('Choose a name from the list').waitFor();
      await field.fill('');
      await field.press('Enter');
      await page.waitForURL('**/app/ledger?view=entries');
      await page.getByText('4 entries', { exact: true }).waitFor();
    });

    it('tells in its place that the days could not be read', async () => {
      await spend();
      await visitor.fail('GET', '/v1/billing/spending', 'internal_error');
      await visitor.open('/app/ledger');
      await failedRequest(page).waitFor();
      await page.unrouteAll();
      await readAgain(page, days().getByText(shown(1)));
    });
  });

  describe('the form of a budget', () => {
    it('has the limits of the service', () => {
      assert.deepEqual(budgetLimits, { minCents: 1, maxCents: spendingLimits.maxBudgetCents });
    });

    it('reads what is to be stored; without an amount nothing is hard', () => {
      assert.deepEqual(readFields({ amount: ' 250.50 ', isHard: true }), {
        monthlyCents: 25_050,
        hard: true,
      });
      assert.deepEqual(readFields({ amount: ' ', isHard: true }), { monthlyCents: null, hard: false });
      const outside = { error: budgetTexts.outside('$0.01', '$10,000,000.00') };
      assert.deepEqual(readFields({ amount: '0', isHard: false }), outside);
      assert.deepEqual(readFields({ amount: '10000000.01', isHard: false }), outside);
      assert.deepEqual(readFields({ amount: '1e9', isHard: false }), { error: budgetTexts.notMoney });
    });

    it('cuts shares off: what is shown as reached was reached', () => {
      assert.deepEqual(sharesOf(7_999, 0, 10_000), { spent: 79, reserved: 0 });
      assert.deepEqual(sharesOf(8_000, 5_000, 10_000), { spent: 80, reserved: 20 });
      assert.deepEqual(sharesOf(15_000, 5_000, 10_000), { spent: 150, reserved: 0 });
      assert.deepEqual(sharesOf(999_999_999, 1, 1_000_000_000), { spent: 99, reserved: 0 });
    });
  });

  describe('the page of the budget', function () {
    this.timeout(90_000);
    const path = '/v1/billing/budget';
    let visitor: Visitor;
    let people = 0;
    beforeEach(async () => {
      visitor = await lab.visit();
      await visitor.signIn(`saver${(people += 1)}@example.com`);
    });
    afterEach(async () => {
      const { complaints } = visitor;
      await visitor.close();
      assert.deepEqual(complaints, []);
    });

    const says = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
    const amount = (page: Page) => page.getByLabel('Monthly budget');
    const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true });
    const stored = async (): Promise<unknown> => {
      const { monthlyCents, hard } = await visitor.ask<{ monthlyCents: number | null; hard: boolean }>(
        'GET',
        path,
      );
      return { monthlyCents, hard };
    };

    it('is set, made hard, and taken away', async () => {
      const page = await visitor.open('/app/budget');
      await says(page, 'No budget set');
      await amount(page).fill('250.5');
      await save(page).click();
      await says(page, 'Budget saved');
      await says(page, 'of $250.50');
      assert.deepEqual(await stored(), { monthlyCents: 25_050, hard: false });
      await page.getByLabel('Never go over it').check();
      await save(page).click();
      await page.getByText('Hard', { exact: true }).waitFor();
      assert.deepEqual(await stored(), { monthlyCents: 25_050, hard: true });
      await amount(page).fill('');
      await save(page).click();
      await says(page, 'No budget set');
      assert.deepEqual(await stored(), { monthlyCents: null, hard: false });
    });

    it('tells what is wrong before it sends anything', async () => {
      const page = await visitor.open('/app/budget');
      for (const [text, error] of [
        ['lots', /^Enter an amount in dollars/],
        ['0', 'Enter an amount from $0.01 to $10,000,000.00.'],
      ] as const) {
        await amount(page).fill(text);
        await save(page).click();
        await says(page, error);
      }
      assert.deepEqual(await stored(), { monthlyCents: null, hard: false });
    });

    for (const [spentCents, reservedCents, now, text] of [
      [0, 0, 0, 'Left'],
      [5_000, 2_000, 50, 'Left'],
      [8_000, 2_000, 80, 'Left'],
      [12_500, 0, 100, 'Over the budget'],
    ] as const) {
      it(`shows ${spentCents} cents of 10000 as a bar`, async () => {
        const leftCents = Math.max(0, 10_000 - spentCents - reservedCents);
        await answerWith(visitor.page, 'GET', path, {
          ...{ monthlyCents: 10_000, hard: true, month: '2026-11', monthEndsAt: '2026-12-01T00:00:00.000Z' },
          ...{ spentCents, reservedCents, leftCents, alertPercents: [50, 80, 100] },
        });
        const page = await visitor.open('/app/budget');
        const bar = page.getByRole('meter', { name: 'Spent of the budget' });
        assert.equal(await bar.getAttribute('aria-valuenow'), String(now));
        await says(page, text);
        await says(page, 'Budget for November 2026');
        await says(page, 'It resets on Dec 1, 2026 (UTC).');
        await says(page, 'We tell you at 50%, 80%, and 100%, by email and here.');
      });
    }

    it('asks who sits there before a hard one is loosened, and then saves it', async () => {
      const page = await visitor.open('/app/budget');
      await amount(page).fill('300');
      await visitor.fail('PUT', path, 'fresh_sign_in_required');
      await save(page).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox').first().waitFor();
      await page.unrouteAll();
      await dialog.getByRole('textbox').first().fill('123456');
      await says(page, 'Budget saved');
      assert.deepEqual(await stored(), { monthlyCents: 30_000, hard: false });
    });

    it('names the rentals that have no limit, in the way of a hard one', async () => {
      const page = await visitor.open('/app/budget');
      await page.route(`**${path}`, (route, request) =>
        request.method() === 'PUT'
          ? route.fulfill({
              status: 403,
              json: {
                ...{ error: 'budget_reserved', message: 'Rentals have no limit.', requestId: 'r1' },
                details: { month: '2026-11', askedCents: 100, unlimited: [{ rentalId: 'rent_1' }] },
              },
            })
          : route.fallback(),
      );
      await amount(page).fill('100');
      await save(page).click();
      await says(page, 'Some rentals have no limit yet');
      assert.equal(
        await page.getByRole('link', { name: 'rent_1' }).getAttribute('href'),
        '/app/rentals/rent_1',
      );
    });

    for (const code of ['validation_failed', 'budget_reserved', 'forbidden', 'rate_limited'] as const) {
      it(`says what ${code} means, and keeps what was typed`, async () => {
        const page = await visitor.open('/app/budget');
        await amount(page).fill('77.70');
        await visitor.fail('PUT', path, code);
        await save(page).click();
        await failedRequest(page).waitFor({ timeout: 40_000 });
        assert.equal(await amount(page).inputValue(), '77.70');
      });
    }

    it('says that it could not be read', async () => {
      await visitor.fail('GET', path, 'forbidden');
      const page = await visitor.open('/app/budget');
      await failedRequest(page).waitFor();
    });
  });
});
