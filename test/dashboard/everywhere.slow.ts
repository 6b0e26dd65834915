import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Rental } from '@gpu-rental/client';
import type { Locator, Page } from 'playwright-core';
import { loginTexts } from '../../clients/dashboard/src/texts/login.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { Purse } from '../support/dashboard/paying.js';
import { Renter } from '../support/dashboard/renter.js';
import { seenIn, watchDocuments } from '../support/dashboard/seen.js';
import { newSshKeyPair } from '../support/ssh-key-pair.js';
import { until } from '../support/until.js';

describe('on each page of the dashboard', () => {
  let lab: DashboardLab;
  before(async () => {
    lab = await DashboardLab.start({ durations: { provisionMs: 200, endMs: 100 } });
  });
  after(() => lab.stop());

  describe('the focus and the palette of the dashboard', function () {
    this.timeout(60_000);
    let visitor: Visitor;
    let page: Page;
    let users = 0;
    beforeEach(async () => {
      visitor = await lab.visit();
      page = visitor.page;
      await visitor.signIn(`focus-${(users += 1)}@example.com`);
    });
    afterEach(() => visitor.close());

    const focused = (): Promise<string> =>
      page.evaluate(() => {
        const { activeElement: at } = document;
        if (at === null || at === document.body) return 'nothing';
        return at.getAttribute('aria-label') ?? at.textContent.trim();
      });
    const becomes = (name: string): Promise<unknown> =>
      until(`the focus is at ${name}`, async () => (await focused()) === name);
    const addKey = (name: string): Promise<unknown> =>
      visitor.ask('POST', '/v1/ssh-keys', { data: { name, publicKey: newSshKeyPair().public } });

    it('goes on to the next of a list when one is removed, and to the heading after the last', async () => {
      for (const name of ['first', 'second']) await addKey(name);
      await visitor.open('/app/keys');
      const remove = async (name: string): Promise<void> => {
        await page.getByRole('button', { name: `Remove the key ${name}` }).focus();
        await page.keyboard.press('Enter');
        const dialog = page.getByRole('dialog');
        await dialog.getByRole('button', { name: 'Remove', exact: true }).focus();
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: `Remove the key ${name}` }).waitFor({ state: 'detached' });
      };
      await remove('first');
      await until('something of the other key has it', async () => (await focused()).includes('second'));
      await remove('second');
      await until('it is not lost', async () => (await focused()) !== 'nothing');
    });

    it('stays on a button while that sends', async () => {
      await visitor.open('/app/budget');
      let answer = (): void => undefined;
      const isAnswered = new Promise<void>((resolve) => (answer = resolve));
      await page.route('**/v1/billing/budget', async (route, request) => {
        if (request.method() === 'PUT') await isAnswered;
        await route.continue();
      });
      await page.getByRole('main').getByRole('textbox').first().fill('100');
      const save = page.getByRole('main').getByRole('button', { name: 'Save' });
      await save.focus();
      await page.keyboard.press('Enter');
      await until('it is under way', async () => (await save.getAttribute('aria-busy')) === 'true');
      assert.match(await focused(), /Save/);
      answer();
      await until('it is done', async () => (await save.getAttribute('aria-busy')) === null);
      assert.match(await focused(), /Save/);
    });

    it('goes from a part of a form that is removed to what is left of it', async () => {
      await visitor.open('/app/rent/rtx-4090');
      for (const place of [1, 2]) {
        await page.getByRole('button', { name: 'Add a label' }).click();
        await page.getByLabel(`Key of label ${place}`).waitFor();
      }
      await page.getByRole('button', { name: 'Remove label 2' }).focus();
      await page.keyboard.press('Enter');
      await page.getByLabel('Key of label 2').waitFor({ state: 'detached' });
      await until('it is not lost', async () => (await focused()) !== 'nothing');
    });

    it('stops a machine from the palette after its question, and gives the focus back', async () => {
      await new Purse(visitor).pay(50_000);
      const data = { familyId: 'rtx-4090', gpuCount: 1, name: 'train-7' };
      const { id } = await visitor.ask<{ id: string }>('POST', '/v1/rentals', { data });
      await visitor.open('/app/invoices');
      const ask = async (): Promise<void> => {
        await page.keyboard.press('Control+k');
        await page.getByRole('combobox').fill('stop train');
        await page.getByRole('option', { name: 'Stop train-7' }).waitFor();
        await page.keyboard.press('Enter');
        await page.getByRole('dialog', { name: /train-7/ }).waitFor();
      };
      await ask();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await becomes('Invoices');
      const statusOf = async (): Promise<string> =>
        (await visitor.ask<{ status: string }>('GET', `/v1/rentals/${id}`)).status;
      assert.notEqual(await statusOf(), 'stopping', 'nothing is stopped by a question');
      await ask();
      await page.getByRole('dialog').getByRole('button', { name: 'Stop it now' }).click();
      await until('it stops', async () => ['stopping', 'stopped', 'terminated'].includes(await statusOf()));
      await becomes('Invoices');
      assert.deepEqual(visitor.complaints, []);
    });

    it('leads from the palette to a family, to the amount, and to the form of a key', async () => {
      await visitor.open('/app');
      const choose = async (typed: string, option: string): Promise<void> => {
        await page.keyboard.press('Control+k');
        await page.getByRole('combobox').fill(typed);
        await page.getByRole('option', { name: option }).first().waitFor();
        await page.keyboard.press('Enter');
      };
      await choose('rent h100', 'Rent H100');
      await page.waitForURL('**/app/rent/h100-80gb');
      await page.getByRole('heading', { level: 1, name: 'Rent H100' }).waitFor();
      await choose('add mon', 'Add money');
      await until('the amount has the focus', () =>
        page.evaluate(() => document.activeElement?.getAttribute('name') === 'amount'),
      );
      await choose('add ssh', 'Add an SSH key');
      await page.getByRole('dialog', { name: 'Add a key' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await until('it is not lost', async () => (await focused()) !== 'nothing');
      assert.equal(new URL(page.url()).search, '');
    });

    it('folds the filters of Rent away on a phone, and says how many are in use', async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      await visitor.open('/app/rent?region=us');
      const fold = page.getByRole('button', { name: 'Filters in use: 1' });
      const region = page
        .getByLabel('Place')
        .or(page.getByLabel('Region'))
        .or(page.getByLabel('Where'))
        .first();
      await fold.waitFor();
      assert.equal(await region.isVisible(), false);
      await fold.click();
      await region.waitFor();
      assert.equal(await fold.getAttribute('aria-expanded'), 'true');
      await page.setViewportSize({ width: 1_280, height: 800 });
      await fold.waitFor({ state: 'hidden' });
      await region.waitFor();
    });

    it('tells the same count to all', async () => {
      await visitor.open('/app/rent');
      const said = page.getByRole('main').getByRole('status').filter({ hasText: 'on offer' });
      const families = page.getByRole('main').getByRole('list').first().getByRole('listitem');
      await families.first().waitFor();
      const rows = await families.count();
      assert.equal(await said.innerText(), `${rows} families on offer`);
    });
  });

  /** A slow hand's press: longer than a pause in typing is. */
  const slowly = { delay: 700 };

  describe('what is pressed on a page', function () {
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
      await target.scrollIntoViewIfNeeded();
      const { x = 0, y = 0 } = (await target.boundingBox()) ?? {};
      await filter.fill(text);
      // A click by its locator looks first whether it may, and the page would have time to move.
      await page.mouse.click(x + 5, y + 5, slowly);
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

  describe('the first paint of the dashboard', function () {
    this.timeout(60_000);

    /** Holds each script back until it is let go. */
    async function holdScripts({ page }: Visitor): Promise<() => void> {
      let letGo = (): void => undefined;
      const isLetGo = new Promise<void>((resolve) => (letGo = resolve));
      await page.route('**/assets/*.js', async (route) => {
        await isLetGo;
        await route.continue();
      });
      return letGo;
    }

    for (const { name, path, part, viewport } of [
      { name: 'a page at a desk', path: '/app', part: 'frame', viewport: { width: 1_280, height: 800 } },
      { name: 'a page on a phone', path: '/app', part: 'frame', viewport: { width: 390, height: 844 } },
      { name: 'the sign-in', path: '/login', part: 'sign-in', viewport: { width: 390, height: 844 } },
    ] as const) {
      it(`comes before any script, and moves nothing: ${name}`, async () => {
        const visitor = await lab.visit({ viewport });
        const { page } = visitor;
        if (path === '/app') {
          await visitor.signIn();
          await visitor.open('/app');
        }
        await watchDocuments(page);
        const letGo = await holdScripts(visitor);
        await page.goto(path, { waitUntil: 'commit' });
        await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
        assert.equal(await page.locator(`.first-paint-${part}`).isVisible(), true);
        assert.equal(await page.locator('#root > *').count(), 0);
        const hint = page.getByText(loginTexts.emailHint);
        const before = part === 'sign-in' ? await hint.boundingBox() : undefined;
        letGo();
        await page.getByRole('main').waitFor();
        await visitor.settle();
        assert.equal(await page.locator('.first-paint').isVisible(), false);
        if (before !== undefined)
          assert.deepEqual(
            await page.getByRole('main').getByText(loginTexts.emailHint).boundingBox(),
            before,
          );
        const { shift, violations } = await seenIn(page);
        assert.ok(shift < 0.05, `it moved by ${shift}`);
        assert.deepEqual([violations, visitor.complaints], [[], []]);
      });
    }

    it('is never followed by an empty page', async () => {
      const visitor = await lab.visit({ viewport: { width: 1_280, height: 800 } });
      const { page } = visitor;
      await visitor.signIn();
      // The service thinks about who is signed in for longer than the script takes.
      let answer = (): void => undefined;
      const isAnswered = new Promise<void>((resolve) => (answer = resolve));
      await page.route('**/v1/auth/me', async (route) => {
        await isAnswered;
        await route.continue();
      });
      await page.addInitScript(() => localStorage.setItem('signed-in', 'yes'));
      const asked = page.waitForRequest('**/v1/auth/me');
      await page.goto('/app');
      await asked;
      await page.clock.runFor(3_000).catch(() => undefined);
      assert.equal(await page.locator('.first-paint-frame').isVisible(), true);
      answer();
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      assert.equal(await page.locator('.first-paint').isVisible(), false);
    });
  });
});
