import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { allNoticeKinds, isOptional } from '../../domain/notices/kinds.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { assertReadAgain, failedRequest } from '../support/dashboard/failures.js';

describe('the page of notices', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let users = 0;
  before(async () => {
    lab = await DashboardLab.start();
    visitor = await lab.visit();
  });
  after(() => lab.stop());
  beforeEach(async () => {
    await visitor.signInAnew(`notices-${(users += 1)}@example.com`);
    page = visitor.page;
  });
  afterEach(() => page.unrouteAll());

  const lost = () => page.getByRole('switch', { name: 'Machine lost' });

  async function kindsThatAreOff(): Promise<string[]> {
    const { notices } = await visitor.ask<{ notices: { kind: string; on: boolean }[] }>('GET', '/v1/notices');
    return notices.filter(({ on }) => !on).map(({ kind }) => kind);
  }

  it('has a switch for each kind that may be off, and shows the others as always on', async () => {
    await visitor.open('/app/notices');
    await page.getByRole('heading', { name: 'You choose' }).waitFor();
    const optional = allNoticeKinds.filter(isOptional);
    assert.equal(await page.getByRole('switch').count(), optional.length);
    const always = page.getByRole('region', { name: 'Always sent' });
    assert.equal(await always.getByRole('listitem').count(), allNoticeKinds.length - optional.length);
    await always.getByText('Low balance').waitFor();
    await always.getByText('Payments', { exact: true }).waitFor();
    // Each kind has a title of its own.
    for (const item of await page.getByRole('main').getByRole('listitem').all()) {
      assert.equal(await item.locator('p').count(), 2, await item.innerText());
    }
  });

  it('saves a switch at once, by the keyboard too, and says so', async () => {
    await visitor.open('/app/notices');
    await lost().focus();
    await page.keyboard.press('Space');
    await page.getByRole('status').getByText('Saved').waitFor();
    assert.equal(await lost().getAttribute('aria-checked'), 'false');
    assert.deepEqual(await kindsThatAreOff(), ['rental_lost']);
    await page.reload();
    await lost().waitFor();
    assert.equal(await lost().getAttribute('aria-checked'), 'false');
    await lost().click();
    await page.getByRole('status').getByText('Saved').waitFor();
    assert.deepEqual(await kindsThatAreOff(), []);
  });

  it('goes back to what the service says when it was not saved, and tries again', async () => {
    await visitor.open('/app/notices');
    await visitor.fail('PUT', '/v1/notices', 'forbidden');
    await lost().click();
    await page.getByRole('alert').getByText('Not saved').waitFor();
    await failedRequest(page).waitFor();
    assert.equal(await lost().getAttribute('aria-checked'), 'true');
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('status').getByText('Saved').waitFor();
    assert.deepEqual(await kindsThatAreOff(), ['rental_lost']);
  });

  it('tells that the kinds could not be read, and reads them when asked again', async () => {
    await assertReadAgain(visitor, { page: '/app/notices', reads: '/v1/notices', shows: lost() });
  });
});
