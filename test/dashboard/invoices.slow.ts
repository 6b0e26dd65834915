import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { readInvoicesSearch } from '../../clients/dashboard/src/pages/invoices/search.js';
import { isOverdue, isPayable } from '../../clients/dashboard/src/pages/invoices/invoice-state.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { failedRequest } from '../support/dashboard/failures.js';
import { answerWith, Purse } from '../support/dashboard/paying.js';
import { until } from '../support/until.js';

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

  it('can be paid while it is open, and after it was given up', () => {
    const payable = (['draft', 'open', 'paid', 'void', 'uncollectible'] as const).filter((status) =>
      isPayable({ status }),
    );
    assert.deepEqual(payable, ['open', 'uncollectible']);
  });

  it('is asked for by a state that there is', () => {
    assert.deepEqual(readInvoicesSearch({ status: 'void' }), { status: 'void' });
    assert.deepEqual(readInvoicesSearch({ status: 'draft' }), {});
  });
});

describe('the page of invoices', function () {
  this.timeout(90_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let purse: Purse;
  let people = 0;
  before(async () => {
    lab = await DashboardLab.start();
  });
  after(() => lab.stop());
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
