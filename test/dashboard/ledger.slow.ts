import assert from 'node:assert/strict';
import type { Explanation, Listing, OpenedRental } from '@gpu-rental/client';
import type { Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { failedRequest, readAgain } from '../support/dashboard/failures.js';
import { accountOf, fillLedger } from '../support/dashboard/ledgers.js';
import { until } from '../support/until.js';

const PATH = '/v1/billing/ledger';
const ENTRIES = '?view=entries';

describe('the ledger in the dashboard', function () {
  this.timeout(90_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let email: string;
  let people = 0;

  before(async () => {
    lab = await DashboardLab.start();
  });
  after(() => lab.stop());
  beforeEach(async () => {
    visitor = await lab.visit();
    ({ page } = visitor);
    people += 1;
    email = `reader${people}@example.com`;
    await visitor.signIn(email);
  });
  afterEach(() => visitor.close());

  const wallet = () => accountOf(lab.mock, email).wallet;
  const grid = () => page.getByRole('grid');
  const line = (text: string | RegExp) => grid().getByRole('row').filter({ hasText: text });
  const scrollTo = (top: number) => grid().evaluate((element, to) => element.scrollTo({ top: to }), top);

  /** Opens the ledger over 100,000 entries: the nth has the number n, and $1,000.00 less n cents after it. */
  async function openLong(query = ENTRIES): Promise<string[]> {
    fillLedger(accountOf(lab.mock, email), 100_000, new Date(Date.now() - 60_000));
    const asked: string[] = [];
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (pathname === PATH) asked.push(search);
    });
    await visitor.open(`/app/ledger${query}`);
    await line('Rental charge').first().waitFor();
    return asked;
  }

  it('leads somebody without an entry to their first top-up', async () => {
    await visitor.open('/app/ledger');
    await page.getByText('No entries yet').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Add money' }).getAttribute('href'), '/app/billing');
    await page.getByText('All entries').click();
    await page.waitForURL(`**/app/ledger${ENTRIES}`);
    await page.getByText('No entries yet').waitFor();
    wallet().post({ type: 'adjustment', availableCents: 12_345 });
    await line('+$123.45').waitFor();
  });

  it('shows any part of 100,000 entries without reading what lies between', async () => {
    const asked = await openLong();
    await page.getByText('100,000 entries').waitFor();
    assert.equal(await grid().getAttribute('aria-rowcount'), '100001');
    await line('$0.01').first().waitFor();
    // The middle: line 50,000 is entry 50,001, after which $499.99 and 50,000 cents less are left.
    await scrollTo(50_000 * 41);
    await line('$500.00').waitFor();
    const middle = line('$500.00');
    assert.equal(await middle.getAttribute('aria-rowindex'), String(50_000 - 1 + 2));
    await grid().focus();
    await page.keyboard.press('End');
    await line('+$1,000.00').waitFor();
    assert.ok(asked.length <= 8, `asked ${asked.length} times: ${asked.join(' ')}`);
    assert.ok((await grid().getByRole('row').count()) < 80, 'too many lines stand in the document');
    assert.deepEqual(visitor.complaints, []);
  });

  it('shows new entries on top as they are written', async () => {
    await openLong();
    for (const [cents, shown] of [
      [777, /\+\$7\.77\s+\$7\.78/],
      [100, /\+\$1\.00\s+\$8\.78/],
      [22, /\+\$0\.22\s+\$9\.00/],
    ] as const) {
      wallet().post({ type: 'refund', availableCents: cents });
      await until(`${shown} is the first line`, async () =>
        shown.test((await grid().getByRole('row').allInnerTexts())[1] ?? ''),
      );
    }
    await page.getByText('Balance, including holds').locator('..').getByText('$9.00').waitFor();
    await page.getByText('100,003 entries').waitFor();
  });

  it('ends with its last instant, also while it is looked at', async () => {
    await page.clock.install({ time: Date.now() });
    const to = new Date(Date.now() + 15_000);
    await openLong(`${ENTRIES}&to=${to.toISOString()}`);
    wallet().post({ type: 'refund', availableCents: 111 });
    await line('+$1.11').waitFor();
    await until('its last instant is over', () => new Date() > to);
    wallet().post({ type: 'refund', availableCents: 222 });
    await line('+$2.22').waitFor();
    await page.clock.fastForward('02:00');
    await line('+$2.22').waitFor({ state: 'detached' });
    await line('+$1.11').waitFor();
    await page.getByText('100,001 entries').waitFor();
    await visitor.end();
  });

  it('moves nothing while somebody reads further below, and leads back to what is new', async () => {
    await openLong();
    await scrollTo(400 * 41);
    await line('$4.10').waitFor();
    const before = await line('$4.10').getAttribute('aria-rowindex');
    for (const cents of [101, 102, 103]) wallet().post({ type: 'refund', availableCents: cents });
    const button = page.getByRole('button', { name: '3 new entries' });
    await button.waitFor();
    assert.equal(await line('$4.10').getAttribute('aria-rowindex'), before);
    await button.click();
    await line('+$1.03').waitFor();
    await button.waitFor({ state: 'detached' });
    assert.equal(await grid().evaluate(({ scrollTop }) => scrollTop), 0);
  });

  it('moves no line under the pointer or the focus, and shows what waits when asked', async () => {
    await openLong();
    await line('$0.02').hover();
    const firstLine = async () => (await grid().getByRole('row').allInnerTexts())[1] ?? '';
    for (const cents of [201, 202]) wallet().post({ type: 'refund', availableCents: cents });
    const button = (count: string) => page.getByRole('button', { name: `${count} new entr` });
    await button('2').waitFor();
    assert.match(await firstLine(), /\$0\.01$/);
    await button('2').click();
    await until('what waited is shown', async () => /^.*\+\$2\.02/s.test(await firstLine()));
    // The focus is in the list now, whose first line stays as well.
    await page.mouse.move(0, 0);
    wallet().post({ type: 'refund', availableCents: 203 });
    await button('1').waitFor();
    assert.match(await firstLine(), /\+\$2\.02/);
    await grid().blur();
    await until('the list goes on', async () => (await firstLine()).includes('+$2.03'));
    await button('1').waitFor({ state: 'detached' });
  });

  it('is read by keyboard, and explains the line it is at', async () => {
    await openLong();
    await grid().focus();
    for (const key of ['PageDown', 'ArrowDown', 'ArrowDown', 'ArrowUp', 'Home', 'ArrowDown', 'Enter']) {
      await page.keyboard.press(key);
    }
    const dialog = page.getByRole('dialog', { name: 'About this entry' });
    await dialog.getByText('$0.03 → $0.02').waitFor();
    const { entries } = wallet();
    assert.equal(new URL(page.url()).searchParams.get('entry'), entries.at(-2)?.id);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).search, ENTRIES);
    await page.keyboard.press('End');
    await line('+$1,000.00').waitFor();
    await page.keyboard.press('Enter');
    await dialog.getByText('$0.00 → $1,000.00').waitFor();
    await dialog.getByText('ch_past', { exact: true }).waitFor();
  });

  it('explains a charge down to its instants, its rate and what was rounded', async () => {
    const account = accountOf(lab.mock, email);
    account.wallet.post({ type: 'processor_topup', availableCents: 100_000 });
    await visitor.ask('POST', '/v1/ssh-keys', { data: { name: 'laptop', generate: true } });
    const path = '/v1/catalog/listings?gpuCount=8';
    const { listings } = await visitor.ask<{ listings: Listing[] }>('GET', path);
    const { family: familyId, regionCode: region } = listings.at(-1)!;
    const { id } = await visitor.ask<OpenedRental>('POST', '/v1/rentals', {
      data: { familyId, gpuCount: 8, region },
    });
    await visitor.open(`/app/ledger?rental=${id}`);
    await line('Rental charge').nth(1).waitFor();
    await line('Rental charge').last().click();
    const dialog = page.getByRole('dialog', { name: 'About this entry' });
    await page.waitForURL('**/app/ledger?*entry=led_*');
    const entryId = new URL(page.url()).searchParams.get('entry')!;
    const { charge } = await visitor.ask<Explanation>('GET', `${PATH}/${entryId}/explain`);
    await dialog.getByText(charge?.formula ?? 'no formula').waitFor();
    await dialog.getByText(`${charge?.elapsedMs.toLocaleString('en-US')} ms`, { exact: true }).waitFor();
    const ms = charge?.until?.slice(-4, -1);
    assert.ok(
      await dialog
        .getByText(new RegExp(`\\.${ms} [AP]M UTC`))
        .first()
        .isVisible(),
    );
    await dialog.getByRole('link', { name: 'Open the rental' }).click();
    await page.waitForURL(`**/app/rentals/${id}`);
  });

  it('keeps its filters in the address, and hands the same days out as a file', async () => {
    fillLedger(accountOf(lab.mock, email), 300, new Date('2026-11-10T00:01:39Z'));
    await visitor.open(`/app/ledger${ENTRIES}`);
    await page.getByLabel('Type').selectOption('Top-up');
    await page.waitForURL('**/app/ledger?type=processor_topup');
    await line('+$3.00').waitFor();
    assert.equal(await line('Rental charge').count(), 0);
    await page.getByText('1 entry', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    // By keys: between them there is a day of the year 2, of 20 and of 202.
    await page.getByLabel('From', { exact: true }).focus();
    await page.keyboard.type('11102026');
    await page.getByLabel('To', { exact: true }).fill('2026-11-10');
    await page.waitForURL('**/app/ledger?from=2026-11-10&to=2026-11-10');
    await page.getByText('100 entries').waitFor();
    const href = await page.getByRole('link', { name: 'CSV file' }).getAttribute('href');
    const { pathname, searchParams } = new URL(href ?? '');
    assert.deepEqual(
      [pathname, ...searchParams.values()],
      ['/v1/billing/ledger.csv', '2026-11-10T00:00:00.000Z', '2026-11-11T00:00:00.000Z'],
    );
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'CSV file' }).click();
    assert.equal((await download).suggestedFilename(), 'ledger.csv');
    await page.getByLabel('From', { exact: true }).fill('2026-11-12');
    await page.getByLabel('To', { exact: true }).fill('2026-11-13');
    await page.getByText('No entries match').waitFor();
  });

  it('shows new entries of a filter on top, and pages through the old ones', async () => {
    await openLong('?type=rental_charge');
    await page.getByText('200 entries so far, more below').waitFor();
    await scrollTo(200 * 41);
    await page.getByText('400 entries so far, more below').waitFor();
    wallet().post({ type: 'refund', availableCents: 10 });
    wallet().post({ type: 'rental_charge', availableCents: -9 });
    await page.getByRole('button', { name: '1 new entry' }).click();
    await line('-$0.09').waitFor();
    assert.equal(await line('Refund').count(), 0);
  });

  it('says so when somebody asks for another’s rental', async () => {
    await visitor.open('/app/ledger?rental=rent_01JZ8Q4M6T3V5X7Y9A1B2C3D4E');
    await page.getByText('You have no rental with this id').waitFor();
  });

  it('tells what failed, with the request’s id, and reads again when asked', async () => {
    await visitor.fail('GET', PATH, 'internal_error');
    wallet().post({ type: 'adjustment', availableCents: 500 });
    await visitor.open(`/app/ledger${ENTRIES}`);
    const alert = page.getByRole('alert');
    await alert.getByText(/^Request /).waitFor();
    await page.unrouteAll();
    await readAgain(alert, line('+$5.00'));
    await alert.waitFor({ state: 'detached' });
  });

  it('tells in its place that an explanation failed', async () => {
    wallet().post({ type: 'adjustment', availableCents: 500 });
    const [entry] = wallet().entries;
    await visitor.fail('GET', `${PATH}/${entry?.id}/explain`, 'not_found');
    // Once the stream has begun, the page reads everything again by itself.
    const again = page.waitForResponse((response) => /beforeSeq=\d+&pageSize=10$/.test(response.url()));
    await visitor.open(`/app/ledger${ENTRIES}`);
    await again;
    await line('+$5.00').click();
    const dialog = page.getByRole('dialog');
    await failedRequest(dialog).waitFor();
    await page.unrouteAll();
    await readAgain(dialog, dialog.getByText('$0.00 → $5.00'));
  });
});
