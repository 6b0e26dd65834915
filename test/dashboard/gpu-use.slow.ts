import assert from 'node:assert/strict';
import type { Rental } from '@gpu-rental/client';
import type { Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { answerWith } from '../support/dashboard/paying.js';
import { Renter } from '../support/dashboard/renter.js';
import { until } from '../support/until.js';

describe('the use of machines in the dashboard', () => {
  let lab: DashboardLab;
  before(async () => {
    lab = await DashboardLab.start({ durations: { provisionMs: 50, endMs: 300, lostMs: 50 } });
  });
  after(() => lab.stop());

  describe('stopping an idle machine, in the dashboard', function () {
    this.timeout(60_000);
    let visitor: Visitor;
    let page: Page;
    let renter: Renter;
    beforeEach(async () => {
      visitor = await lab.visit({ viewport: { width: 390, height: 844 } });
      page = visitor.page;
      renter = await Renter.signIn(visitor);
    });
    afterEach(() => visitor.close());

    const minutes = () => page.getByLabel('Stop when idle (minutes)');
    const sessions = () => page.getByLabel('Even while somebody is logged in');
    const limits = () => page.getByRole('region', { name: 'Limits', exact: true });
    const wrong = () => page.getByText('Enter whole minutes, from 15 to 1440');
    // Nobody tells the mock who is logged in.
    const fault = () => page.getByText(/^mock can’t tell us who is logged in/);

    it('is a wish of the form of Rent, whose refusal stands at the field', async () => {
      await visitor.open('/app/rent/h100-80gb');
      const rent = page.getByRole('button', { name: /^Rent for/ });
      await rent.waitFor();
      await minutes().fill('5');
      await wrong().waitFor();
      await until('it rents nothing meanwhile', async () => !(await rent.isEnabled()));
      await minutes().fill('45');
      await page.getByText('This machine can’t stop when idle like this').waitFor();
      await fault().waitFor();
      await sessions().check();
      await until('it may be rented', () => rent.isEnabled());
      await rent.click();
      await limits().getByText('After 45 min').waitFor();
      const [rental] = await renter.rentals();
      assert.deepEqual([rental?.stopWhenIdleMinutes, rental?.idleGuard?.ignores], [45, ['sessions']]);
    });

    it('gives way to the wish that its use is told, where that makes a difference', async () => {
      const use = () => page.getByLabel('Report usage');
      const rent = page.getByRole('button', { name: /^Rent for/ });
      await visitor.open('/app/rent/h100-80gb');
      await rent.waitFor();
      assert.equal(await use().count(), 0, 'its provider tells it');
      const asked: (boolean | undefined)[] = [];
      await page.route('**/v1/quotes', async (route, request) => {
        const answer = await route.fetch();
        const { telemetry } = request.postDataJSON() as { telemetry?: boolean };
        asked.push(telemetry);
        const telemetrySource = telemetry === true ? 'reporter' : null;
        await route.fulfill({
          response: answer,
          json: { ...((await answer.json()) as object), telemetrySource },
        });
      });
      await visitor.open('/app/rent/h100-80gb');
      await use().check();
      await page.getByText('our script on the machine').first().waitFor();
      assert.deepEqual([asked[0], asked.at(-1)], [undefined, true]);
      await minutes().fill('45');
      await sessions().waitFor();
      // A machine that stops when idle has it told anyway.
      await use().waitFor({ state: 'detached' });
      await minutes().fill('');
      await use().waitFor();
      assert.equal(await use().isChecked(), true);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    });

    it('tells at the wish that nobody tells its use', async () => {
      await page.route('**/v1/quotes', (route) =>
        route.fulfill({
          status: 400,
          json: {
            ...{ error: 'idle_guard_unsupported', message: 'Nobody tells it.', requestId: 'req' },
            details: {
              misfits: [
                { providerCode: 'vast', field: 'telemetry', limit: null, message: 'does not tell it' },
              ],
            },
          },
        }),
      );
      await visitor.open('/app/rent/h100-80gb?telemetry=true');
      await page.getByText('vast can’t report this machine’s usage.').waitFor();
      await page.getByText('This machine can’t report its usage').waitFor();
    });

    it('is changed beside the limits of a machine', async () => {
      const id = await renter.rent({ name: 'guarded' });
      await renter.reaches(id, 'running');
      await visitor.open(`/app/rentals/${id}`);
      const dialog = page.getByRole('dialog');
      const open = () => limits().getByRole('button', { name: 'Change limits' }).click();
      const save = async (): Promise<Rental> => {
        await dialog.getByRole('button', { name: 'Save limits' }).click();
        await dialog.waitFor({ state: 'detached' });
        return renter.rental(id);
      };
      await open();
      await minutes().fill('14');
      await wrong().waitFor();
      await minutes().fill('30');
      await dialog.getByRole('button', { name: 'Save limits' }).click();
      await fault().waitFor();
      await sessions().check();
      const { idleGuard } = await save();
      assert.deepEqual([idleGuard?.minutes, idleGuard?.ignores], [30, ['sessions']]);
      await limits().getByText('After 30 min').waitFor();
      await open();
      assert(await sessions().isChecked());
      await minutes().fill('');
      assert.equal((await save()).stopWhenIdleMinutes, null);
    });
  });

  const MINUTE = 60_000;

  describe('the use of a machine on its page', function () {
    this.timeout(60_000);
    let visitor: Visitor;
    let page: Page;
    let renter: Renter;
    beforeEach(async () => {
      visitor = await lab.visit();
      page = visitor.page;
      renter = await Renter.signIn(visitor);
    });
    afterEach(() => visitor.close());

    const card = () => page.getByRole('region', { name: 'GPU usage', exact: true });

    /** Two hours of use with a gap, up to now. */
    async function openUsed(id: string, source: 'upstream' | 'reporter' = 'upstream'): Promise<void> {
      const start = Date.now() - 120 * MINUTE;
      const points = Array.from({ length: 120 }, (_, minute) => {
        const gpuPercent = minute > 60 && minute < 70 ? null : minute < 100 ? 70 + (minute % 20) : 0;
        const at = new Date(start + minute * MINUTE).toISOString();
        const rest = { gpuMemoryPercent: 40, cpuPercent: 12, memoryPercent: 31 };
        return { at, gpuPercent, busiestGpuPercent: gpuPercent, ...rest };
      });
      const [from, to] = [start, start + 120 * MINUTE].map((ms) => new Date(ms).toISOString());
      const told = { rentalId: id, source, from, to, stepSeconds: 60, points };
      await answerWith(page, 'GET', `/v1/rentals/${id}/telemetry`, told);
      await visitor.open(`/app/rentals/${id}`);
      await page.getByRole('button', { name: 'GPU usage' }).click();
    }

    it('is drawn with its unit, value and date, told to screen readers, and by the keyboard', async () => {
      const id = await renter.rent({ name: 'used' });
      await renter.reaches(id, 'running');
      await openUsed(id);
      const name = await card().getByRole('img').getAttribute('aria-label');
      assert.match(
        name ?? '',
        /^Usage of all GPUs in percent, from .+ to .+: 6\d% on average, 89% at most\.$/,
      );
      assert.equal(await card().locator('polyline').count(), 2, 'a gap where nobody told');
      const slider = card().getByRole('slider', { name: 'Moment' });
      await slider.press('Home');
      assert.match((await slider.getAttribute('aria-valuetext')) ?? '', / · 70%$/);
      await card()
        .getByText(/ · 70%$/)
        .waitFor();
      const shown = process.env['PICTURE'];
      if (shown !== undefined) await page.screenshot({ path: shown, fullPage: true });
    });

    for (const [source, words] of [
      ['upstream', 'Reported by mock.'],
      ['reporter', 'Reported by a small script of ours on the machine, because you asked for it.'],
    ] as const) {
      it(`says whose word it is: ${source}`, async () => {
        const id = await renter.rent({ name: 'used' });
        await openUsed(id, source);
        await card().getByText(words, { exact: true }).waitFor();
      });
    }

    it('says when an idle machine stops, and keeps it running', async () => {
      const id = await renter.rent({ name: 'idle', stopWhenIdleMinutes: 30, idleIgnores: ['sessions'] });
      await renter.reaches(id, 'running');
      const rental = await renter.rental(id);
      const stopsAt = new Date(Date.now() + 9 * MINUTE).toISOString();
      await answerWith(page, 'GET', `/v1/rentals/${id}`, {
        ...rental,
        idleGuard: { ...rental.idleGuard, idleSince: new Date().toISOString(), stopsAt },
      });
      await openUsed(id);
      await page.getByText('This machine is idle').waitFor();
      const shown = process.env['PICTURE_IDLE'];
      if (shown !== undefined) await page.screenshot({ path: shown, fullPage: true });
      await card().getByText('It stops after 30 idle minutes.').waitFor();
      await page.getByRole('button', { name: 'Keep it running for 2 hours' }).click();
      // What is read anew is answered as before here: the service itself tells what was kept.
      await until('it is kept running', async () => {
        const kept = (await renter.rental(id)).idleGuard?.keepAliveUntil ?? '';
        return Date.parse(kept) - Date.now() > 119 * MINUTE;
      });
    });
  });
});
