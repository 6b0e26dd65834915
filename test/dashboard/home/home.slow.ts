import assert from 'node:assert/strict';
import { DashboardLab, type Visitor } from '../../support/dashboard/dashboard.js';
import { HeldClock } from '../../support/dashboard/held-clock.js';
import { failedRequest, readAgain } from '../../support/dashboard/failures.js';
import { Purse } from '../../support/dashboard/paying.js';
import { until } from '../../support/until.js';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIILHUBtNJZvdOw5S9jRC4uP/itkkFhI+AU/6rNAi8aVp ada@laptop';

describe('the overview of the dashboard', function () {
  this.timeout(60_000);
  const clock = new HeldClock();
  let lab: DashboardLab;
  let visitor: Visitor;
  let people = 0;
  before(async () => {
    lab = await DashboardLab.start({ clock, durations: { provisionMs: 50 } });
  });
  after(() => lab.stop());
  beforeEach(async () => {
    visitor = await lab.visit();
    people += 1;
    await visitor.signIn(`person-${people}@example.com`);
  });
  afterEach(() => {
    clock.release();
    return visitor.close();
  });

  const post = <T>(path: string, data: object): Promise<T> => visitor.ask('POST', path, { data });
  const fund = (amountCents: number): Promise<void> => new Purse(visitor).pay(amountCents);
  const rent = (data: object) =>
    post<{ id: string }>('/v1/rentals', { familyId: 'h100-80gb', gpuCount: 8, ...data });
  const tile = (label: string) => visitor.page.locator('dl > div', { hasText: label });

  it('leads to the first machine in three steps, each done as soon as the service says so', async () => {
    const page = await visitor.open('/app');
    const step = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await step('Add an SSH key').and(page.locator('[aria-current=step]')).waitFor();
    await post('/v1/ssh-keys', { name: 'laptop', publicKey: KEY });
    await step('Add an SSH key').getByText('Done').waitFor();
    await step('Add money').and(page.locator('[aria-current=step]')).waitFor();
    await fund(5_000);
    await step('Add money').getByText('Done').waitFor();
    await tile('Available').getByText('$50.00').waitFor();
    await page.getByRole('link', { name: 'Choose a GPU' }).click();
    await page.waitForURL('**/app/rent');
    assert.deepEqual(visitor.complaints, []);
  });

  it('leads from a machine that soon stops to its limits, open', async () => {
    await post('/v1/ssh-keys', { name: 'laptop', publicKey: KEY });
    await fund(500_000);
    const { id } = await rent({ name: 'night run', autoStopAfterHours: 0.25 });
    const page = await visitor.open('/app');
    await page.getByRole('link', { name: 'Change limits' }).click();
    await page.waitForURL(`**/app/rentals/${id}?limits=true`);
    await page.getByRole('dialog').getByRole('heading', { name: 'Change limits' }).waitFor();
  });

  it('shows a machine from its purchase on, and its cost as it ticks', async () => {
    await post('/v1/ssh-keys', { name: 'laptop', publicKey: KEY });
    await fund(500_000);
    const page = await visitor.open('/app');
    clock.hold();
    await rent({ name: 'night run' });
    const machine = page.getByRole('listitem').filter({ hasText: 'night run' });
    await machine.getByText('Starting').waitFor();
    clock.release();
    await machine.getByText('Running', { exact: true }).waitFor();
    const costs = new Set<string>();
    await until('its cost ticks', async () => {
      costs.add(
        (
          await machine
            .locator('.font-semibold')
            .getByText(/^\$\d+\.\d\d$/)
            .innerText()
        ).trim(),
      );
      return costs.size >= 4;
    });
    await tile('Cost per hour').getByText('1 machine running').waitFor();
    const recent = page.getByRole('region', { name: 'Recent activity' }).getByRole('listitem');
    await recent.filter({ hasText: ': running, billed since' }).waitFor();
    assert.equal(await recent.count(), 5);
    const available = tile('Held').getByText(/^\$/);
    const held = await available.innerText();
    await until('the hold melts', async () => (await available.innerText()) !== held);
    await machine.getByRole('button', { name: 'Copy the ssh command' }).click();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(copied, /^ssh -p \d+ \w+@[\w.-]+$/);
    assert.deepEqual(visitor.complaints, []);
  });

  it('never shows more than the service has charged once the machine has ended', async () => {
    await post('/v1/ssh-keys', { name: 'laptop', publicKey: KEY });
    await fund(500_000);
    const page = await visitor.open('/app');
    const { id } = await rent({ name: 'short' });
    const machine = page.getByRole('listitem').filter({ hasText: 'short' });
    await machine
      .locator('.font-semibold')
      .getByText(/^\$(0\.0[3-9]|0\.[1-9]\d|[1-9]\d*\.\d\d)$/)
      .waitFor();
    await post(`/v1/rentals/${id}/stop`, {});
    await page.getByRole('main').getByText('No machines running').waitFor();
    const { totalChargedCents } = await visitor.ask<{ totalChargedCents: number }>(
      'GET',
      `/v1/rentals/${id}`,
    );
    const left = ((500_000 - totalChargedCents) / 100).toFixed(2).replace(/(\d)(\d{3}\.)/, '$1,$2');
    await tile('Available').getByText(`$${left}`).waitFor();
    await tile('Held').getByText('$0.00').waitFor();
  });

  it('tells what needs somebody, with the way to it', async () => {
    await visitor.page.route('**/v1/billing/auto-topup', async (route) => {
      const answer = await route.fetch();
      const settings = (await answer.json()) as object;
      await route.fulfill({ json: { ...settings, enabled: false, disabledReason: 'charge_failed' } });
    });
    const page = await visitor.open('/app');
    const item = page.getByRole('list', { name: 'Needs your attention' }).getByRole('listitem');
    await item.filter({ hasText: 'Automatic top-ups were turned off' }).waitFor();
    await page.getByRole('status').filter({ hasText: '1 thing needs your attention' }).waitFor();
    await item.getByRole('link', { name: 'Go to billing' }).click();
    await page.waitForURL('**/app/billing');
  });

  for (const path of ['/v1/rentals', '/v1/billing/balance']) {
    it(`says so where ${path} fails, and tries again`, async () => {
      await visitor.fail('GET', path, 'rental_not_found');
      const page = await visitor.open('/app');
      await failedRequest(page).first().waitFor();
      await page.unrouteAll();
      await readAgain(page, page.getByText('Your first machine'));
      await readAgain(page, tile('Available').getByText('$0.00'));
    });
  }
});
