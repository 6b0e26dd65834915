import assert from 'node:assert/strict';
import type { OpenedRental } from '@gpu-rental/client';
import type { Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { failedRequest, readAgain } from '../support/dashboard/failures.js';
import { accountOf } from '../support/dashboard/ledgers.js';
import { until } from '../support/until.js';

const DAY = 86_400_000;
const day = (ago: number): string => new Date(Date.now() - ago * DAY).toISOString().slice(0, 10);
const shown = (ago: number): string =>
  new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' }).format(Date.now() - ago * DAY);

describe('spending in the dashboard', function () {
  this.timeout(90_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let email: string;
  let people = 0;

  before(async () => {
    // Nothing runs, so nothing is charged but what a test writes.
    lab = await DashboardLab.start({ durations: { provisionMs: 3_600_000 } });
  });
  after(() => lab.stop());
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
