import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Rental } from '@gpu-rental/client';
import type { Locator, Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { Renter } from '../support/dashboard/renter.js';
import { until } from '../support/until.js';

/** A slow hand's press: longer than a pause in typing is. */
const slowly = { delay: 700 };

describe('what is pressed on a page', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let renter: Renter;
  before(async () => {
    lab = await DashboardLab.start({ durations: { provisionMs: 200, endMs: 100 } });
  });
  after(() => lab.stop());
  beforeEach(async () => {
    visitor = await lab.visit();
    page = visitor.page;
    renter = await Renter.signIn(visitor);
  });
  afterEach(async () => {
    assert.deepEqual(visitor.complaints, []);
    await visitor.close();
  });

  const link = (name: string) => page.getByRole('main').getByRole('link', { name, exact: true });
  const opened = (name: string | RegExp) =>
    page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const field = (label: string) => page.getByRole('search').getByLabel(label);
  const searchOf = () => Object.fromEntries(new URL(page.url()).searchParams);

  async function rent(...names: string[]): Promise<string[]> {
    const ids: string[] = [];
    for (const name of names) ids.push(await renter.rent({ name, labels: { team: name } }));
    for (const id of ids) await renter.reaches(id, 'running');
    return ids;
  }

  /** Types into a filter, and presses what lies below it at once. */
  async function typeAndPress(filter: Locator, text: string, target: Locator): Promise<void> {
    await target.waitFor();
    await filter.fill(text);
    await target.click(slowly);
  }

  for (const [label, text] of [
    ['Search', 'one'],
    ['Label', 'team:one'],
  ] as const) {
    it(`is the rental that was meant, right after typing into ${label}`, async () => {
      await rent('one', 'two', 'three');
      await visitor.open('/app/rentals');
      await typeAndPress(field(label), text, link('one'));
      await opened('one');
    });
  }

  for (const [label, text] of [
    ['Search', '5090'],
    ['Max. price/h', '0.45'],
  ] as const) {
    it(`is the family that was meant, right after typing into ${label}`, async () => {
      await visitor.open('/app/rent');
      await typeAndPress(field(label), text, link('RTX 5090'));
      await opened(/RTX 5090/);
    });
  }

  it('is the entry that was meant, right after typing into a filter of the ledger', async () => {
    await visitor.open('/app/ledger?view=entries');
    await typeAndPress(
      field('Rental'),
      'no such name',
      page.getByRole('row').filter({ hasText: 'Top-up' }).first(),
    );
    await page.getByRole('dialog').getByText('Top-up').first().waitFor();
  });

  it('stays where it is while the service tells of something else', async () => {
    const [, above = ''] = await rent('one', 'two');
    await visitor.open('/app/rentals');
    const box = await link('one').boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + 2, box.y + 2);
    await page.mouse.down();
    const told = new Promise<void>((resolve) => {
      void page.route('**/v1/rentals?*', async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ response: answer });
        const { rentals } = (await answer.json()) as { rentals: Rental[] };
        if (rentals.some(({ id, status }) => id === above && status === 'stopped')) resolve();
      });
    });
    await renter.stop(above);
    await told;
    // A slow reader holds what they press for longer than a scroll bar is waited for.
    await sleep(2_500);
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    await page.mouse.up();
    await opened('one');
  });

  it('clears what was typed a moment before', async () => {
    await rent('one', 'two');
    await visitor.open('/app/rentals?sort=oldest');
    await link('one').waitFor();
    await field('Search').fill('nowhere');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await until('the field is empty', async () => (await field('Search').inputValue()) === '');
    assert.deepEqual(searchOf(), {});
    await link('two').waitFor();
  });
});
