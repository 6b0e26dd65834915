import assert from 'node:assert/strict';
import type { Statement } from '@gpu-rental/client';
import type { Page } from 'playwright-core';
import { invoiceStatuses } from '../../clients/dashboard/src/data/invoice-statuses.js';
import { isOverdue } from '../../clients/dashboard/src/pages/invoices/invoice-state.js';
import { readInvoicesSearch } from '../../clients/dashboard/src/pages/invoices/search.js';
import { checkSums } from '../../clients/dashboard/src/pages/statements/sums.js';
import { listedStatuses } from '../../domain/payments/invoices.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { failedRequest, readAgain } from '../support/dashboard/failures.js';
import { goBackTo, staysWhenLeft } from '../support/dashboard/going-back.js';
import { accountOf, fillLedger } from '../support/dashboard/ledgers.js';
import { answerWith, Purse } from '../support/dashboard/paying.js';
import { until } from '../support/until.js';

const PATH = '/v1/billing/statement';

const right: Statement = {
  ...{ from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' },
  ...{ openingBalanceCents: 100, closingBalanceCents: 1_073 },
  totals: [
    { type: 'processor_topup', entries: 1, amountCents: 1_000 },
    { type: 'rental_charge', entries: 3, amountCents: -30 },
    { type: 'refund', entries: 1, amountCents: 3 },
  ],
  rentals: [{ rentalId: 'rent_1', entries: 4, chargedCents: 30, refundedCents: 3, amountCents: -27 }],
  groups: [
    {
      ...{ kind: 'label', key: 'team', value: 'a', entries: 4 },
      ...{ chargedCents: 30, refundedCents: 3, amountCents: -27 },
    },
    {
      ...{ kind: 'other', key: 'team', value: null, entries: 1 },
      ...{ chargedCents: 0, refundedCents: 0, amountCents: 1_000 },
    },
  ],
};

describe('the sums of a statement', () => {
  it('are added up in whole cents', () => {
    assert.deepEqual(checkSums(right), { inCents: 1_003, outCents: -30, netCents: 973, faults: [] });
    const { from, to, openingBalanceCents, closingBalanceCents, totals, rentals } = right;
    const ungrouped = { from, to, openingBalanceCents, closingBalanceCents, totals, rentals };
    assert.deepEqual(checkSums(ungrouped).faults, []);
  });

  const [first, other] = right.groups ?? [];
  const wrong: readonly (readonly [string, Partial<Statement>])[] = [
    ['balance', { closingBalanceCents: 1_074 }],
    ['rentals', { rentals: right.rentals.map((each) => ({ ...each, refundedCents: 4 })) }],
    ['groups', { groups: [first!, { ...other!, amountCents: 999 }] }],
    ['entries', { groups: [first!, { ...other!, entries: 2 }] }],
  ];
  for (const [fault, change] of wrong) {
    it(`are found out where they are wrong: ${fault}`, () => {
      assert.deepEqual(checkSums({ ...right, ...change }).faults, [fault]);
    });
  }

  it('are found out where an amount is no whole number', () => {
    const change = { openingBalanceCents: 100.5, closingBalanceCents: 1_073.5 };
    assert.deepEqual(checkSums({ ...right, ...change }).faults, ['whole']);
  });
});

describe('statements and invoices in the dashboard', () => {
  let lab: DashboardLab;
  before(async () => {
    lab = await DashboardLab.start();
  });
  after(() => lab.stop());

  describe('the statements in the dashboard', function () {
    this.timeout(90_000);
    let visitor: Visitor;
    let page: Page;
    let email: string;
    let people = 0;

    beforeEach(async () => {
      visitor = await lab.visit({ timezoneId: 'Europe/Berlin' });
      ({ page } = visitor);
      people += 1;
      email = `accountant${people}@example.com`;
      await visitor.signIn(email);
    });
    afterEach(() => visitor.close());

    const month = () => page.getByLabel('Month', { exact: true });
    const line = (label: string) => page.getByRole('term').filter({ hasText: label }).locator('..');

    /** The last two seconds of a year in Berlin, and the first two of the next one. */
    function spendOverNewYear(): void {
      const year = new Date().getUTCFullYear();
      fillLedger(accountOf(lab.mock, email), 4, new Date(Date.UTC(year - 1, 11, 31, 23, 0, 1)));
    }

    it('tells somebody without an entry that there is no statement', async () => {
      await visitor.open('/app/statements');
      await page.getByText('No statements yet').waitFor();
    });

    it('offers the months that there are, of the calendar of the zone, and adds each up', async () => {
      spendOverNewYear();
      const year = new Date().getUTCFullYear();
      await visitor.open(`/app/statements?month=${year - 1}-12`);
      const offered = await month().locator('option').allInnerTexts();
      assert.equal(offered.at(-1), `December ${year - 1}`);
      assert.equal(offered.length, 1 + new Date().getMonth() + 1);
      await page.getByRole('heading', { name: `Statement of December ${year - 1}` }).waitFor();
      const shown = async (label: string) => (await line(label).first().innerText()).split('\n').at(-1);
      await line('Closing balance').waitFor();
      assert.deepEqual(
        [await shown('Opening balance'), await shown('Money in'), await shown('Money out')],
        ['$0.00', '+$0.04', '-$0.01'],
      );
      assert.equal(await shown('Closing balance'), '$0.03');
      await page.getByText('Checked: the opening balance').waitFor();
      await month().selectOption(`January ${year}`);
      await page.waitForURL(`**/app/statements?month=${year}-01`);
      await page.getByRole('heading', { name: `Statement of January ${year}` }).waitFor();
      await page.getByText('-$0.02').first().waitFor();
      assert.deepEqual([await shown('Opening balance'), await shown('Money in')], ['$0.03', '$0.00']);
      await page.getByLabel('Time zone').selectOption('UTC');
      await line('Opening balance').getByText('$0.01').waitFor();
      await page.getByRole('link', { name: 'All entries of this month' }).click();
      await page.waitForURL(
        `**/app/ledger?from=${year}-01-01T00%3A00%3A00.000Z&to=${year}-02-01T00%3A00%3A00.000Z`,
      );
      await page.getByText('No entries match').waitFor();
    });

    it('complains in sight when the service’s sums do not make the closing balance', async () => {
      spendOverNewYear();
      await page.route(`**${PATH}?*`, async (route) => {
        const answer = await route.fetch();
        const statement = (await answer.json()) as Statement;
        await route.fulfill({
          json: { ...statement, closingBalanceCents: statement.closingBalanceCents + 1 },
        });
      });
      await visitor.open('/app/statements');
      const alert = page.getByRole('alert');
      await alert.getByText('This statement does not add up').waitFor();
      await alert.getByText('does not equal the closing balance').waitFor();
      assert.equal(await page.getByText('Checked: the opening balance').count(), 0);
    });

    it('shows the costliest of many rentals, and all of them when asked to, and on paper', async () => {
      spendOverNewYear();
      const rentals = Array.from({ length: 300 }, (_, no) => ({
        ...{ rentalId: `rent_${no}`, entries: 1, chargedCents: no, refundedCents: 0, amountCents: -no },
      }));
      await answerWith(page, 'GET', PATH, { ...right, rentals });
      await visitor.open('/app/statements');
      const table = page.getByRole('group', { name: 'By rental' });
      await page.getByText('The 200 that cost most, of 300 rentals.').waitFor();
      assert.equal(await table.getByRole('link').count(), 200);
      await table.getByText('rent_100', { exact: true }).waitFor();
      assert.equal(await table.getByText('rent_99', { exact: true }).count(), 0);
      await table.getByText('-$448.50').waitFor();
      await page.emulateMedia({ media: 'print' });
      await until('all are on paper', async () => (await table.getByRole('link').count()) === 300);
      await page.emulateMedia({ media: 'screen' });
      await page.getByRole('button', { name: 'Show all' }).click();
      await table.getByText('rent_99', { exact: true }).waitFor();
    });

    it('is printed black on white, without what leads elsewhere', async () => {
      spendOverNewYear();
      await visitor.open('/app/statements');
      await line('Opening balance').waitFor();
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      for (const name of ['Print', 'All entries of this month']) {
        assert.equal(await page.getByText(name, { exact: true }).isVisible(), false, name);
      }
      assert.equal(await page.getByRole('navigation').count(), 0);
      const colours = await page.evaluate(() => [
        getComputedStyle(document.documentElement).backgroundColor,
        getComputedStyle(document.documentElement).color,
      ]);
      assert.deepEqual(colours, ['rgb(255, 255, 255)', 'rgb(0, 0, 0)']);
    });

    for (const [path, code] of [
      [PATH, 'internal_error'],
      ['/v1/billing/ledger', 'internal_error'],
    ] as const) {
      it(`tells that ${path} failed, and reads again when asked`, async () => {
        spendOverNewYear();
        await visitor.fail('GET', path, code);
        await visitor.open('/app/statements');
        const alert = page.getByRole('alert');
        await alert.getByText(/^Request /).waitFor();
        await page.unrouteAll();
        await readAgain(alert, line('Opening balance'));
      });
    }
  });

  describe('an invoice', () => {
    const nowMs = Date.parse('2026-11-22T12:00:00Z');
    const invoice = { status: 'open', reason: 'overage', dueAt: '2026-11-22T11:59:59Z' } as const;

    it('is overdue while it is open, owed and past its day', () => {
      assert.equal(isOverdue(invoice, nowMs), true);
      assert.equal(isOverdue({ ...invoice, dueAt: '2026-11-22T12:00:01Z' }, nowMs), false);
      assert.equal(isOverdue({ ...invoice, dueAt: null }, nowMs), false);
      assert.equal(isOverdue({ ...invoice, reason: 'topup_failed' }, nowMs), false, 'nobody owes an offer');
      assert.equal(isOverdue({ ...invoice, status: 'paid' }, nowMs), false);
    });

    it('is asked for by a state that there is', () => {
      assert.deepEqual(invoiceStatuses, listedStatuses);
      assert.deepEqual(readInvoicesSearch({ status: 'void' }), { status: 'void' });
      assert.deepEqual(readInvoicesSearch({ status: 'draft' }), {});
    });
  });

  describe('the page of invoices', function () {
    this.timeout(90_000);
    let visitor: Visitor;
    let purse: Purse;
    let people = 0;
    beforeEach(async () => {
      visitor = await lab.visit();
      purse = new Purse(visitor);
      await visitor.signIn(`debtor${(people += 1)}@example.com`);
    });
    afterEach(async () => {
      const { complaints } = visitor;
      await visitor.close();
      assert.deepEqual(complaints, []);
    });

    const says = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
    const rows = (page: Page) => page.locator('main > div ul.divide-y > li');

    it('says that there is none, and where receipts are', async () => {
      const page = await visitor.open('/app/invoices');
      await says(page, 'No invoices yet');
      await says(page, 'You owe nothing');
      await page.getByRole('link', { name: 'View your top-ups' }).click();
      await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor();
    });

    it('tells what is owed in all, shows each, and takes a new one without being asked', async () => {
      await purse.owe(12_345, 'Use in October');
      const page = await visitor.open('/app/invoices');
      await says(page, 'Use in October');
      await purse.owe(655, 'Use in November');
      await says(page, 'Use in November');
      await until('the sum is told', () => page.getByText('$130.00').isVisible());
      await says(page, '2 to pay');
      assert.equal(await page.getByText('PDF', { exact: true }).count(), 2);
    });

    it('is paid on the page that the service names at the moment of the press', async () => {
      const id = await purse.owe(4_200, 'What is owed');
      const page = await visitor.open('/app/invoices');
      await page.getByRole('button', { name: 'Pay $42.00' }).click();
      await page.waitForURL(`**/mock/invoices/${id}`);
      await page.getByRole('button', { name: 'Pay $42.00' }).click();
      await page.getByText('Invoice: paid').first().waitFor();
      await visitor.open('/app/invoices');
      await says(page, 'You owe nothing');
      await page.getByRole('link', { name: 'Receipt' }).waitFor();
      assert.equal(await page.getByRole('button', { name: /^Pay/ }).count(), 0);
    });

    it('can be paid by whoever went back from the page to pay on', async () => {
      const id = await purse.owe(4_200, 'What is owed');
      const page = await visitor.open('/app/invoices');
      await staysWhenLeft(page, /\/mock\/invoices\//);
      await page.getByRole('button', { name: 'Pay $42.00' }).click();
      await page.getByRole('button', { name: 'Opening' }).waitFor();
      await goBackTo(page);
      await page.unrouteAll();
      await page.getByRole('button', { name: 'Pay $42.00' }).click();
      await page.waitForURL(`**/mock/invoices/${id}`);
    });

    it('shows more than one page of them', async () => {
      for (let number = 1; number <= 51; number += 1) await purse.owe(100 + number, `Debt ${number}`);
      const page = await visitor.open('/app/invoices');
      await says(page, 'Debt 51');
      assert.equal(await rows(page).count(), 50);
      await page.getByRole('button', { name: 'Show more' }).click();
      await until('the oldest is shown', async () => (await rows(page).count()) === 51);
      assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0);
    });

    it('keeps its filter in the address', async () => {
      await purse.owe(4_200, 'What is owed');
      const page = await visitor.open('/app/invoices');
      await page.getByText('Paid', { exact: true }).click();
      await page.waitForURL('**/app/invoices?status=paid');
      await says(page, 'No invoices match');
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.waitForURL((url) => url.search === '');
      await says(page, 'What is owed');
      await visitor.open('/app/invoices?status=open');
      await until('it is listed', async () => (await rows(page).count()) === 1);
    });

    it('tells an offer from a debt, and an overdue one from others', async () => {
      await purse.owe(4_200, 'Correction of October');
      const { data } = await visitor.ask<{ data: [object] }>('GET', '/v1/billing/invoices');
      const offer = { ...data[0], id: 'inv_offer', reason: 'topup_failed' };
      const overdue = { ...data[0], id: 'inv_late', dueAt: '2020-01-01T00:00:00.000Z' };
      await answerWith(visitor.page, 'GET', '/v1/billing/invoices', { data: [offer, overdue] });
      const page = await visitor.open('/app/invoices');
      await says(page, /You don’t owe this: pay it to add the money\./);
      await says(page, 'An invoice is overdue');
      assert.equal(await page.getByText('Overdue', { exact: true }).count(), 1);
      // Whichever of them are listed.
      await page.route(
        ({ pathname, searchParams }) =>
          pathname === '/v1/billing/invoices' && searchParams.get('status') === 'paid',
        (route) => route.fulfill({ json: { data: [] } }),
      );
      await page.getByText('Paid', { exact: true }).click();
      await says(page, 'No invoices match');
      await says(page, 'An invoice is overdue');
    });

    it('says when there is nothing to pay any more', async () => {
      const id = await purse.owe(4_200, 'What is owed');
      const page = await visitor.open('/app/invoices');
      await answerWith(page, 'GET', `/v1/billing/invoices/${id}/pay-url`, { url: null });
      await page.getByRole('button', { name: 'Pay $42.00' }).click();
      await says(page, 'Nothing to pay here');
    });

    for (const code of ['invoice_not_found', 'temporarily_unavailable'] as const) {
      it(`says what failed when the page to pay on is ${code}, and asks again`, async () => {
        const id = await purse.owe(4_200, 'What is owed');
        const page = await visitor.open('/app/invoices');
        await visitor.fail('GET', `/v1/billing/invoices/${id}/pay-url`, code);
        await page.getByRole('button', { name: 'Pay $42.00' }).click();
        await failedRequest(page).waitFor({ timeout: 40_000 });
        await page.unrouteAll();
        await page.getByRole('button', { name: 'Try again' }).click();
        await page.waitForURL(`**/mock/invoices/${id}`);
      });
    }

    it('says that the list failed', async () => {
      await visitor.fail('GET', '/v1/billing/invoices', 'forbidden');
      const page = await visitor.open('/app/invoices');
      await failedRequest(page).waitFor();
    });
  });
});
