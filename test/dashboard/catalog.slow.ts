import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { failedRequest, readAgain } from '../support/dashboard/failures.js';
import { Renter } from '../support/dashboard/renter.js';
import { until } from '../support/until.js';

/** The search part of the address as the page has written it. */
const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

describe('finding a machine', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  before(async () => {
    lab = await DashboardLab.start();
    visitor = await lab.visit();
    await Renter.signIn(visitor);
    page = visitor.page;
  });
  after(() => lab.stop());
  afterEach(async () => {
    await page.unrouteAll();
    await page.emulateMedia({ colorScheme: null });
    await page.setViewportSize({ width: 1_280, height: 800 });
    assert.deepEqual(visitor.complaints.splice(0), []);
  });

  const families = () => page.getByRole('list', { name: 'GPUs on offer' }).getByRole('heading', { level: 2 });
  const picture = async (name: string): Promise<void> => {
    const folder = process.env['PICTURES_IN'];
    if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  };
  const names = async () => (await families().allInnerTexts()).map((text) => text.split('\n')[0]);

  it('shows the families, the cheapest first, with price and reliability', async () => {
    await visitor.open('/app/rent');
    await families().first().waitFor();
    assert.deepEqual(await names(), ['RTX 4090', 'RTX 5090', 'L40S', 'A100 80 GB', 'H100 80 GB', 'B200']);
    const first = page.getByRole('list', { name: 'GPUs on offer' }).getByRole('listitem').first();
    assert.match(await first.innerText(), /24 GB · 1, 2, 8 GPUs[\s\S]*\$0\.40[\s\S]*48 of 50/);
    await page.getByText('Not available right now:').waitFor();
  });

  it('draws a price line of what is seen, a few at a time', async () => {
    let [most, open] = [0, 0];
    await page.route('**/history', async (route) => {
      most = Math.max(most, (open += 1));
      const response = await route.fetch();
      open -= 1;
      await route.fulfill({ response });
    });
    await visitor.open('/app/rent');
    await until('all lines are drawn', async () => (await page.getByRole('img').count()) === 6);
    assert.match(
      (await page.getByRole('img').first().getAttribute('aria-label')) ?? '',
      /over 7 days: from \$/,
    );
    assert(most <= 3, `${most} at once`);
  });

  it('tells a family’s prices hour by hour, by the keyboard and to screen readers', async () => {
    await visitor.open('/app/rent/h100-80gb');
    const line = page.getByRole('slider', { name: /^Lowest hourly price over 30 days: from \$/ });
    const told = () => line.getAttribute('aria-valuetext');
    await page.getByRole('region', { name: 'Lowest price, 30 days' }).scrollIntoViewIfNeeded();
    await line.focus();
    const newest = await told();
    assert.match(newest ?? '', / · \$\d+\.\d\d an hour$/);
    await page.getByText(newest ?? '', { exact: true }).waitFor();
    await line.press('PageDown');
    await until('the day before is told', async () => (await told()) !== newest);
    await page.getByText((await told()) ?? '', { exact: true }).waitFor();
    await line.press('End');
    await until('the newest is told', async () => (await told()) === newest);
  });

  it('keeps its filters in the address, and shows what fits', async () => {
    await visitor.open('/app/rent');
    await page.getByLabel('GPUs', { exact: true }).selectOption('8');
    await page.getByLabel('Memory per GPU').selectOption('80');
    await page.getByLabel('Max. price/h').fill('30');
    await until('the dearest is gone', async () => (await names()).join() === 'A100 80 GB,H100 80 GB');
    assert.deepEqual(searchOf(page), { gpus: '8', vram: '80', max: '3000' });
    await page.getByText('Cheapest match').waitFor();
    await page.reload();
    await until('the same stands there', async () => (await names()).join() === 'A100 80 GB,H100 80 GB');
    assert.equal(await page.getByLabel('Max. price/h').inputValue(), '30.00');
    await page.getByLabel('Sort by').selectOption('name');
    await page.getByLabel('Search').fill('h100');
    await until('one is left', async () => (await names()).join() === 'H100 80 GB');
    assert.deepEqual(searchOf(page), { q: 'h100', gpus: '8', vram: '80', max: '3000', sort: 'name' });
    await page.getByLabel('Region').selectOption('apac');
    await page.getByText('No offers match').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).last().click();
    await until('all are back', async () => (await names()).length === 6);
    assert.deepEqual(searchOf(page), {});
  });

  it('filters by the size of a machine, leads to one that fits, and tells its size', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await visitor.open('/app/rent');
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('CPUs', { exact: true }).selectOption('64');
    await page.getByLabel('RAM').selectOption('256');
    await page.getByLabel('Disk').selectOption('250');
    await page.getByRole('button', { name: 'Filters in use: 3' }).waitFor();
    await page.getByText('$5.52').first().waitFor();
    assert.deepEqual(searchOf(page), { cpus: '64', ram: '256', disk: '250' });
    await picture('filters-phone');
    await page.setViewportSize({ width: 1_280, height: 800 });
    await picture('filters-desk');
    await page.getByLabel('Disk').selectOption('500');
    await page.getByText('No offers match').waitFor();
    await page.getByLabel('Disk').selectOption('250');
    await page.getByRole('link', { name: 'RTX 4090' }).click();
    const quote = page.getByRole('region', { name: 'Your quote' });
    await quote.getByText('64 CPUs · 512 GB RAM · 256 GB disk').first().waitFor();
    assert.equal(searchOf(page)['gpus'], '8');
    // The country stands there once, although it is a region as well.
    assert.equal(await page.getByRole('radio', { name: /^United States/ }).count(), 1);
    await quote.getByRole('button', { name: /^Rent for/ }).waitFor();
    await picture('facts-desk');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await picture('facts-phone-dark');
  });

  it('tells until when a machine can be had', async () => {
    await page.route('**/v1/quotes', async (route) => {
      const response = await route.fetch();
      const json = (await response.json()) as { listing: object };
      const listing = { ...json.listing, availableUntil: '2026-12-24T18:00:00.000Z' };
      await route.fulfill({ response, json: { ...json, listing } });
    });
    await visitor.open('/app/rent/rtx-4090');
    await page.getByText('Your rental stops ten minutes before.').waitFor();
    await page.getByText(/Dec 24.*6:00/).waitFor();
  });

  it('leaves a text as it was typed, whatever it is kept as', async () => {
    await visitor.open('/app/rent');
    await page.getByLabel('Max. price/h').fill('5');
    await until('it is kept', () => searchOf(page)['max'] === '500');
    await page.getByLabel('Max. price/h').pressSequentially('0');
    await until('it is kept', () => searchOf(page)['max'] === '5000');
    assert.equal(await page.getByLabel('Max. price/h').inputValue(), '50');
  });

  it('says what no price is, and filters by none', async () => {
    await visitor.open('/app/rent?max=3000');
    await page.getByLabel('Max. price/h').fill('cheap');
    await page.getByText('Enter an amount such as 2.50').waitFor();
    await page.getByLabel('Search').focus();
    assert.deepEqual(searchOf(page), { max: '3000' });
  });

  for (const path of ['/v1/catalog/families', '/v1/catalog/listings']) {
    it(`says that ${path} failed, and shows all once it answers`, async () => {
      await visitor.fail('GET', path, 'forbidden');
      await visitor.open('/app/rent');
      await failedRequest(page).waitFor();
      await page.unrouteAll();
      await readAgain(page, families().first());
    });
  }

  it('goes without a price line that is not to be had', async () => {
    await visitor.fail('GET', '/v1/catalog/families/rtx-4090/history', 'forbidden');
    await visitor.open('/app/rent');
    await until('the others are drawn', async () => (await page.getByRole('img').count()) === 5);
  });
});
