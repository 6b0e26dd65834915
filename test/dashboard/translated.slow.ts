import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { pages } from '../../lab/dashboard/pages.js';
import { buildDashboard } from '../support/dashboard/built.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { startLivedLab } from '../support/dashboard/lived-lab.js';
import { Purse, watchRequests } from '../support/dashboard/paying.js';
import { Renter } from '../support/dashboard/renter.js';
import { translate, translated } from '../support/dashboard/translator.js';
import { until } from '../support/until.js';

describe('the dashboard in a browser that translates', function () {
  this.timeout(180_000);
  let dashboardFolder: string;
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  before(async () => {
    dashboardFolder = await buildDashboard('development');
    lab = await DashboardLab.start({ dashboardFolder, durations: { provisionMs: 10_000 } });
  });
  after(() => lab.stop());
  beforeEach(() => visitLab(lab));
  afterEach(async () => {
    const complaints = visitor.complaints.splice(0);
    await visitor.close();
    assert.deepEqual(complaints, []);
  });

  const visitLab = async (visited: DashboardLab): Promise<void> => {
    visitor = await visited.visit();
    ({ page } = visitor);
    await translate(page);
  };
  const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click();
  const says = (text: string | RegExp) => page.getByText(text).first().waitFor();

  /** Reads something until it has shown several values. */
  const changes = async (what: string, read: () => Promise<string>): Promise<void> => {
    const seen = new Set<string>();
    await until(`${what} changes`, async () => seen.add(await read()).size > 3);
  };

  it('lets somebody sign in, and out', async () => {
    await visitor.open('/login');
    await page.getByLabel('Email address').fill('grace@example.com');
    await press('Email me a code');
    await page.getByLabel('Six-digit code').fill('12345');
    await press('Use another address');
    await page.getByLabel('Email address').fill('linus@example.com');
    await press('Email me a code');
    await page.getByLabel('Six-digit code').fill('123456');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await press('Sign out');
    await page.getByLabel('Email address').waitFor();
  });

  it('charges a card once, and says so', async () => {
    await visitor.signIn('payer@example.com');
    const purse = new Purse(visitor);
    await purse.saveCard();
    await visitor.open('/app/billing');
    const sent = watchRequests(page, 'POST', '/v1/billing/checkout');
    await press('$50');
    await press(/^Pay \$50\.00/);
    await says('$50.00 is in your wallet');
    await page.locator('dl').getByText('$50.00', { exact: true }).first().waitFor();
    await press('Add more');
    await page.getByRole('button', { name: /^Pay / }).waitFor();
    assert.equal(sent.keys.length, 1);
    assert.deepEqual(
      (await purse.topups()).map(({ amountCents, status }) => [amountCents, status]),
      [[5_000, 'succeeded']],
    );
  });

  it('rents a machine, follows it while it starts and runs, and stops it', async () => {
    const renter = await Renter.signIn(visitor);
    await visitor.open('/app/rent');
    await page.getByRole('link', { name: /B200/ }).first().waitFor();
    await visitor.open('/app/rent/b200?gpus=8');
    await press(/^Rent for/);
    await page.waitForURL(/\/app\/rentals\/rent_/);
    const shows = (state: string) => page.locator('main').getByText(state, { exact: true }).first().waitFor();
    const hides = (state: string) =>
      page.locator('main').getByText(state, { exact: true }).first().waitFor({ state: 'detached' });
    await shows('Starting');
    await shows('Running');
    await hides('Starting');
    const cost = page.getByRole('region', { name: 'Cost', exact: true }).locator('dd.tabular').first();
    await changes('the cost', () => cost.innerText());
    await press('Stop');
    await page.getByRole('dialog').getByRole('button', { name: /^Stop/ }).click();
    await shows('Stopped');
    await hides('Running');
    assert.deepEqual(
      (await renter.rentals()).map(({ status }) => status),
      ['stopped'],
    );
  });

  it('tells of a machine in the lists while it changes', async () => {
    const renter = await Renter.signIn(visitor);
    await visitor.open('/app/rentals');
    const id = await renter.rent({ familyId: 'b200', gpuCount: 8, name: 'listed' });
    const row = page.locator('main li').filter({ hasText: 'listed' });
    await row.getByText('Running', { exact: true }).last().waitFor();
    assert.equal(await row.getByText('Starting', { exact: true }).count(), 0);
    await changes('the cost of a row', () => row.innerText());
    await visitor.open('/app');
    await changes('the cost on the overview', () => row.first().innerText());
    await renter.stop(id);
    await visitor.open('/app/rentals');
    await row.getByText('Stopped', { exact: true }).last().waitFor();
  });

  it('shows each page, and again when its size and its data change', async () => {
    const world = await startLivedLab(dashboardFolder);
    try {
      await visitor.close();
      await visitLab(world.lab);
      await visitor.signIn(world.lived.email);
      for (const walked of pages.filter(({ isPublic }) => !isPublic)) {
        await page.goto(walked.address(world.lived));
        await visitor.settle();
        await page.setViewportSize({ width: 390, height: 844 });
        await page.evaluate(() => dispatchEvent(new Event('focus')));
        for (const button of walked.opens ?? []) {
          await page.locator('main').getByRole('button', { name: button, exact: true }).first().click();
          const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog'));
          await dialog.waitFor();
          await page.keyboard.press('Escape');
          await dialog.waitFor({ state: 'detached' });
        }
        await page.setViewportSize({ width: 1_280, height: 800 });
        const marked = (await translated(page)).filter((text) =>
          /\$\d|\b[a-z]+_[0-9A-Z]{20}|^ssh -p/.test(text),
        );
        assert.deepEqual(marked, [], walked.name);
      }
    } finally {
      await world.stop();
    }
  });
});
