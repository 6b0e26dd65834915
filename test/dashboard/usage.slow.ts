import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { answerWith } from '../support/dashboard/paying.js';
import { Renter } from '../support/dashboard/renter.js';
import { until } from '../support/until.js';

const MINUTE = 60_000;

describe('the use of a machine on its page', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let renter: Renter;
  before(async () => {
    lab = await DashboardLab.start({ durations: { provisionMs: 50, endMs: 300, lostMs: 50 } });
  });
  after(() => lab.stop());
  beforeEach(async () => {
    visitor = await lab.visit();
    page = visitor.page;
    renter = await Renter.signIn(visitor);
  });
  afterEach(() => visitor.close());

  const card = () => page.getByRole('region', { name: 'GPU use', exact: true });

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
    await page.getByRole('button', { name: 'GPU use' }).click();
  }

  it('is drawn with its unit, value and date, told to screen readers, and by the keyboard', async () => {
    const id = await renter.rent({ name: 'used' });
    await renter.reaches(id, 'running');
    await openUsed(id);
    const name = await card().getByRole('img').getAttribute('aria-label');
    assert.match(name ?? '', /^Use of all GPUs in percent, from .+ to .+: 6\d% on average, 89% at most\.$/);
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
    ['upstream', 'mock tells it.'],
    ['reporter', 'A small script of ours on the machine tells it, because you asked.'],
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
    await card().getByText('It stops once it was idle for 30 minutes.').waitFor();
    await page.getByRole('button', { name: 'Keep it running for 2 hours' }).click();
    // What is read anew is answered as before here: the service itself tells what was kept.
    await until('it is kept running', async () => {
      const kept = (await renter.rental(id)).idleGuard?.keepAliveUntil ?? '';
      return Date.parse(kept) - Date.now() > 119 * MINUTE;
    });
  });
});
