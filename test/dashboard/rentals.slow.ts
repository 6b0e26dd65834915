import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { failedRequest, readAgain } from '../support/dashboard/failures.js';
import { Renter } from '../support/dashboard/renter.js';
import { until } from '../support/until.js';

describe('the list of rentals', function () {
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

  const list = (name: string) => page.getByRole('region', { name, exact: true });
  const titles = (name: string) => list(name).getByRole('heading', { level: 3 }).allInnerTexts();
  const searchOf = () => Object.fromEntries(new URL(page.url()).searchParams);

  it('greets who has rented nothing, and leads to what can be rented', async () => {
    await visitor.open('/app/rentals');
    await page.getByRole('main').getByText('No machines running').waitFor();
    await list('Ended').getByText('No rentals yet').waitFor();
    await list('Ended').getByRole('link', { name: 'Rent a machine' }).click();
    await page.getByRole('heading', { level: 1, name: 'Rent' }).waitFor();
  });

  it('shows what runs first, with its cost ticking, then what has ended', async () => {
    const ended = await renter.rent({ name: 'over' });
    await renter.reaches(ended, 'running');
    await renter.stop(ended);
    await renter.reaches(ended, 'stopped');
    const running = await renter.rent({ familyId: 'b200', gpuCount: 8, name: 'dear', labels: { team: 'a' } });
    await renter.reaches(running, 'running');
    await visitor.open('/app/rentals');
    await until('both stand there', async () => (await titles('Running now')).length === 1);
    assert.deepEqual([await titles('Running now'), await titles('Ended')], [['dear'], ['over']]);
    const item = list('Running now').getByRole('listitem').first();
    const seen = new Set<string>();
    await until('it has ticked', async () => {
      const amount = /\$0\.\d\d/.exec(await item.innerText())?.[0];
      if (amount !== undefined) seen.add(amount);
      return seen.size >= 3;
    });
    await item.getByText('team: a').waitFor();
  });

  it('moves a rental to the ended ones by itself', async () => {
    const id = await renter.rent({ name: 'short' });
    await renter.reaches(id, 'running');
    await visitor.open('/app/rentals');
    await list('Running now').getByText('short').waitFor();
    await renter.stop(id);
    await list('Ended').getByText('short').waitFor();
    await until('it runs no more', async () => (await titles('Running now')).length === 0);
  });

  it('keeps its filters in the address', async () => {
    const ids = [
      await renter.rent({ name: 'one', labels: { project: 'atlas' } }),
      await renter.rent({ name: 'two' }),
      await renter.rent({ name: 'three' }, 'fails'),
    ];
    await renter.reaches(ids[2] ?? '', 'failed');
    await visitor.open('/app/rentals');
    await page.getByLabel('Label').fill('project:atlas');
    await until('one is left', async () => (await titles('Running now')).join() === 'one');
    assert.deepEqual(searchOf(), { label: 'project:atlas' });
    await page.reload();
    await until('one is left', async () => (await titles('Running now')).join() === 'one');
    await page.getByLabel('Label').fill('project');
    await page.getByText('Enter a key and a value, such as project:training').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
    await page.getByLabel('Status').selectOption('failed');
    await until('one is left', async () => (await titles('Failed')).join() === 'three');
    assert.equal(await list('Running now').count(), 0);
    await page.getByLabel('Search').fill('something else');
    await page.getByText('No rentals match').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).last().click();
    await until('all are back', async () => (await titles('Running now')).length === 2);
    assert.deepEqual(searchOf(), {});
  });

  it('shows older ones on demand, says where that fails, and looks through what it has', async () => {
    const id = await renter.rent({ name: 'run' }, 'fails');
    const ended = await renter.reaches(id, 'failed');
    const all = Array.from({ length: 53 }, (_, no) => ({ ...ended, id: `rent_${no}`, name: `run ${no}` }));
    let isBroken = false;
    await page.route('**/v1/rentals?pageSize=50*', async (route, request) => {
      const cursor = new URL(request.url()).searchParams.get('cursor');
      const from = Number(cursor ?? 0);
      const rentals = all.slice(from, from + 50);
      const nextCursor = from + 50 < all.length ? `${from + 50}` : null;
      if (cursor === null || !isBroken) await route.fulfill({ json: { rentals, nextCursor } });
      else await route.continue({ headers: { ...request.headers(), 'x-mock-failure': 'forbidden' } });
    });
    await visitor.open('/app/rentals');
    await until('a page stands there', async () => (await titles('Ended')).length === 50);
    await page.getByLabel('Search').fill('run 2');
    await until('it is narrowed', async () => (await titles('Ended')).length === 14);
    await page.getByLabel('Search').fill('run 1 nothing');
    await page.getByText('We searched the newest 50 rentals. There are older ones.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).last().click();
    isBroken = true;
    await page.getByRole('button', { name: 'Show older rentals' }).click();
    await failedRequest(page).waitFor();
    assert.equal((await titles('Ended')).length, 50);
    isBroken = false;
    await readAgain(page, list('Ended').getByRole('heading', { level: 3 }).nth(52));
    assert.equal((await titles('Ended')).length, 53);
    assert.equal(await page.getByRole('button', { name: 'Show older rentals' }).count(), 0);
  });

  it('says that it failed, and shows all once it answers', async () => {
    await renter.reaches(await renter.rent({ name: 'one' }), 'running');
    await visitor.fail('GET', '/v1/rentals', 'forbidden');
    await visitor.open('/app/rentals');
    await until('both say it', async () => (await failedRequest(page).count()) === 2);
    await page.unrouteAll();
    await readAgain(page, list('Running now').getByText('one'));
  });
});
