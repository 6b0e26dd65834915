import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { budgetLimits, readFields, sharesOf } from '../../clients/dashboard/src/pages/budget/budget-form.js';
import { budgetTexts } from '../../clients/dashboard/src/texts/budget.js';
import { spendingLimits } from '../../domain/spending/limits.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { failedRequest } from '../support/dashboard/failures.js';
import { answerWith } from '../support/dashboard/paying.js';

describe('the form of a budget', () => {
  it('has the limits of the service', () => {
    assert.deepEqual(budgetLimits, { minCents: 1, maxCents: spendingLimits.maxBudgetCents });
  });

  it('reads what is to be stored; without an amount nothing is hard', () => {
    assert.deepEqual(readFields({ amount: ' 250.50 ', isHard: true }), { monthlyCents: 25_050, hard: true });
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
  let lab: DashboardLab;
  let visitor: Visitor;
  let people = 0;
  before(async () => {
    lab = await DashboardLab.start();
  });
  after(() => lab.stop());
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
