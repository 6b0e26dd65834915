import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { failedRequest, readAgain } from '../support/dashboard/failures.js';
import { Renter } from '../support/dashboard/renter.js';
import { until } from '../support/until.js';

describe('rentals in the dashboard', () => {
  let lab: DashboardLab;
  before(async () => {
    lab = await DashboardLab.start({ durations: { provisionMs: 200, endMs: 100 } });
  });
  after(() => lab.stop());

  // Between two words of the stream, a second apart, the event comes, the list is read and the machine goes: often, of six.
  it('move to the ended ones when the machine goes right after its event', async function () {
    this.timeout(120_000);
    const quick = await DashboardLab.start({ durations: { provisionMs: 50, endMs: 400 } });
    try {
      const visitor = await quick.visit();
      const renter = await Renter.signIn(visitor);
      await visitor.open('/app/rentals');
      for (const name of ['one', 'two', 'three', 'four', 'five', 'six']) {
        const id = await renter.rent({ name });
        const list = (title: string) => visitor.page.getByRole('region', { name: title, exact: true });
        await list('Running now').getByText(name, { exact: true }).waitFor();
        await renter.reaches(id, 'running');
        await renter.stop(id);
        await list('Ended').getByText(name, { exact: true }).waitFor();
      }
    } finally {
      await quick.stop();
    }
  });

  describe('the list of rentals', function () {
    this.timeout(60_000);
    let visitor: Visitor;
    let page: Page;
    let renter: Renter;
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
    const names = Array.from({ length: 5 }, (_, no) => [`run ${no}`, 'rtx-4090'] as const);
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
      const running = await renter.rent({
        familyId: 'b200',
        gpuCount: 8,
        name: 'dear',
        labels: { team: 'a' },
      });
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

    it('searches, sorts and counts over all rentals, and shows more on demand', async () => {
      for (const [name, familyId] of [...names, ['needle', 'b200']] as const) {
        await renter.reaches(await renter.rent({ name, familyId }, 'fails'), 'failed');
      }
      // Only the first of several pages is loaded, and what is sought stands on none of it.
      await page.route('**/v1/rentals?*pageSize=50*', async (route, request) => {
        await route.continue({ url: request.url().replace('pageSize=50', 'pageSize=2') });
      });
      await visitor.open('/app/rentals?sort=oldest');
      await until('a page stands there', async () => (await titles('Ended')).join() === 'run 0,run 1');
      await list('Ended').getByText('6', { exact: true }).waitFor();
      await page.getByLabel('Search').fill('needle');
      await until('it is found', async () => (await titles('Ended')).join() === 'needle');
      await list('Ended').getByText('1', { exact: true }).waitFor();
      assert.equal(await page.getByLabel('Status').getByRole('option', { name: 'Failed (1)' }).count(), 1);
      assert.deepEqual(searchOf(), { sort: 'oldest', q: 'needle' });
      await page.getByLabel('Search').fill('run');
      await page.getByLabel('Sort by').selectOption('Name, A to Z');
      await until('they are sorted', async () => (await titles('Ended')).join() === 'run 0,run 1');
      let isBroken = true;
      await page.route('**/v1/rentals?*cursor=*', async (route, request) => {
        if (!isBroken) await route.fallback();
        else await route.continue({ headers: { ...request.headers(), 'x-mock-failure': 'forbidden' } });
      });
      await page.getByRole('button', { name: 'Show more rentals' }).click();
      await failedRequest(page).waitFor();
      assert.equal((await titles('Ended')).length, 2);
      isBroken = false;
      await readAgain(page, list('Ended').getByText('run 3'));
      await page.getByLabel('Search').fill('nowhere');
      await list('Ended').getByText('No rentals match').waitFor();
      await list('Running now').getByText('No running machines match.').waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).last().click();
      await until('all are back', async () => (await titles('Ended')).join() === 'needle,run 4');
    });

    describe('several machines at once', () => {
      const dialog = () => page.getByRole('dialog');
      const lines = async () =>
        (await dialog().getByRole('listitem').allInnerTexts()).map((text) => text.split('\n'));

      async function open(...rented: string[]): Promise<string[]> {
        const ids: string[] = [];
        for (const name of rented) ids.push(await renter.rent({ name }));
        for (const id of ids) await renter.reaches(id, 'running');
        await visitor.open('/app/rentals');
        await until('they stand there', async () => (await titles('Running now')).length === rented.length);
        return ids;
      }

      it('are chosen by keyboard, asked about once, and stopped by one request each, told by name', async () => {
        await open('one', 'two', 'three');
        const sent: string[] = [];
        page.on('request', (request) => {
          if (request.url().endsWith('/stop')) sent.push(request.url());
        });
        await page.getByLabel('Select one').focus();
        await page.keyboard.press('Space');
        await page.getByRole('button', { name: 'Stop 1 machine' }).waitFor();
        await page.getByLabel('Select all').press('Space');
        assert.equal(await page.getByLabel('Select two').isChecked(), true);
        await page.getByLabel('Select two').press('Space');
        await list('Running now').getByText('2 selected').waitFor({ state: 'attached' });
        await page.getByRole('button', { name: 'Stop 2 machines' }).press('Enter');
        await dialog().getByText('All data on them is lost').waitFor();
        await dialog()
          .getByText(/^Together they have cost \$\d+\.\d\d, and cost \$\d+\.\d\d an hour\.$/)
          .waitFor();
        assert.deepEqual(
          (await lines()).map(([name]) => name),
          ['three', 'one'],
        );
        const confirm = dialog().getByRole('button', { name: 'Stop all 2' });
        await confirm.dblclick();
        await dialog().getByText('2 machines were stopped.').waitFor();
        for (const [, outcome = ''] of await lines())
          assert.match(outcome, /^Stopped\. It cost \$0\.\d\d; you got \$/);
        assert.equal(sent.length, 2, 'one press is one request each');
        await dialog().getByRole('button', { name: 'Close' }).last().click();
        await until('one is left', async () => (await titles('Running now')).join() === 'two');
      });

      it('go on where one fails, which can be tried again, and is told where another was faster', async () => {
        const [failing = '', faster = ''] = await open('stays', 'ends');
        let isBroken = true;
        await page.route(`**/v1/rentals/${failing}/stop`, async (route, request) => {
          const headers = { ...request.headers(), ...(isBroken && { 'x-mock-failure': 'forbidden' }) };
          await route.continue({ headers });
        });
        await page.getByLabel('Select all').check();
        await page.getByRole('button', { name: 'Stop 2 machines' }).click();
        await renter.stop(faster);
        await renter.reaches(faster, 'stopped');
        await dialog().getByRole('button', { name: 'Stop all 2' }).click();
        await dialog().getByText('1 machine may still run and cost money.').waitFor();
        assert.match((await lines()).join('\n'), /ends,It had already stopped\.\nstays,Not stopped: /);
        isBroken = false;
        await dialog().getByRole('button', { name: 'Try 1 again' }).click();
        await dialog().getByText('2 machines were stopped.').waitFor();
        await renter.reaches(failing, 'stopped');
      });
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

  describe('a machine without a name of its own', function () {
    this.timeout(60_000);
    let visitor: Visitor;
    let id: string;
    before(async () => {
      visitor = await lab.visit();
      const renter = await Renter.signIn(visitor);
      id = await renter.rent({ familyId: 'h100-80gb', gpuCount: 8 });
      await until('it has cost a cent', async () => (await renter.rental(id)).totalChargedCents > 0);
    });

    /** It is called by its family, and nowhere by the provider's code of the model. */
    async function isCalled(name: string): Promise<void> {
      await visitor.page.getByText(name).first().waitFor();
      assert.doesNotMatch(await visitor.page.locator('body').innerText(), /H100_/);
    }

    it('is called by its family in a statement', async () => {
      await visitor.open('/app/statements');
      await isCalled('8 × H100 80 GB');
    });

    it('is called by its family where an entry is explained, beside the provider it was rented from', async () => {
      const page = await visitor.open(`/app/ledger?rental=${id}`);
      await page.getByRole('row').filter({ hasText: 'Rental charge' }).last().click();
      await page.getByRole('definition').filter({ hasText: '8 × H100 80 GB at mock' }).waitFor();
      await isCalled('8 × H100 80 GB (rent_');
    });

    it('is called by its family in the palette, with its state in words', async () => {
      const page = await visitor.open('/app');
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill(id);
      await isCalled('8 × H100 80 GB');
      await page.getByText(`${id} · Running`).waitFor();
    });
  });
});
