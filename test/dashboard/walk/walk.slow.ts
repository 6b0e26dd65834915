import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { pages, type WalkedPage } from '../../lab/dashboard/pages.js';
import { findBarriers } from '../support/dashboard/axe.js';
import { buildWithWarnings, type OwnBuild } from '../support/dashboard/built.js';
import type { Visitor } from '../support/dashboard/dashboard.js';
import { startLivedLab, type LivedLab } from '../support/dashboard/lived-lab.js';
import { declaredRoutes } from '../support/dashboard/routes.js';
import { overflowOf, seenIn, watchDocuments } from '../support/dashboard/seen.js';

const phone = { width: 390, height: 844 };
const desk = { width: 1_280, height: 800 };
/** What a person notices of parts that move by themselves. */
const MOST_SHIFT = 0.05;

describe('each page of the dashboard', function () {
  this.timeout(120_000);
  let build: OwnBuild;
  let world: LivedLab;
  let stranger: Visitor;
  let ada: Visitor;
  let newcomer: Visitor;

  before(async () => {
    build = await buildWithWarnings();
    world = await startLivedLab(build.folder);
    [stranger, ada, newcomer] = (await Promise.all([1, 2, 3].map(() => world.lab.visit()))) as [
      Visitor,
      Visitor,
      Visitor,
    ];
    await ada.signIn(world.lived.email);
    await newcomer.signIn('bob@example.com');
    for (const { page } of [stranger, ada, newcomer]) await watchDocuments(page);
  });
  after(async () => {
    await world.stop();
    build.remove();
  });

  it('has a line in the table of pages', () => {
    const walked = new Set(pages.map(({ route }) => route));
    assert.deepEqual([...walked].toSorted(), declaredRoutes().toSorted());
  });

  for (const walked of pages) {
    it(`${walked.name} is quiet, still and open to everybody`, async () => {
      const visitor = walked.isPublic ? stranger : ada;
      for (const size of [phone, desk]) {
        await openAt(visitor, walked, size);
        await judge(visitor, `${size.width} px`);
        await eachTheme(visitor.page);
      }
    });
  }

  for (const walked of pages.filter(({ opens = [] }) => opens.length > 0)) {
    it(`${walked.name} opens dialogs that are as quiet and as open`, async () => {
      for (const button of walked.opens ?? []) {
        await openAt(ada, walked, phone);
        await enterDialog(ada, button);
      }
    });
  }

  for (const walked of pages.filter(({ isPublic, route }) => !isPublic && !route.includes('$'))) {
    it(`${walked.name} greets who has nothing yet`, async () => {
      await openAt(newcomer, walked, phone);
      await judge(newcomer, 'a newcomer');
      assert.deepEqual(await findBarriers(newcomer.page), []);
    });
  }

  async function openAt(visitor: Visitor, walked: WalkedPage, size: typeof phone): Promise<void> {
    await visitor.page.setViewportSize(size);
    await visitor.page.emulateMedia({ colorScheme: 'light' });
    await visitor.page.goto(walked.address(world.lived));
    await visitor.settle();
  }

  /** Fails on all that a page did which no one asked for. */
  async function judge(visitor: Visitor, where: string): Promise<void> {
    const { violations, shift, moved } = await seenIn(visitor.page);
    const found = {
      violations,
      complaints: visitor.complaints.splice(0),
      outside: visitor.outside.splice(0),
      refusals: visitor.refusals.splice(0).filter((refusal) => refusal !== '401 GET /v1/auth/me'),
      overflow: await overflowOf(visitor.page),
      moved: shift > MOST_SHIFT ? moved : [],
    };
    const nothing = { violations: [], complaints: [], outside: [], refusals: [], overflow: [], moved: [] };
    assert.deepEqual(found, nothing, where);
  }

  async function eachTheme(page: Page): Promise<void> {
    assert.deepEqual(await findBarriers(page), [], 'in light');
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await findBarriers(page, 'colours'), [], 'in dark');
  }

  async function enterDialog(visitor: Visitor, button: string): Promise<void> {
    const { page } = visitor;
    await page.locator('main').getByRole('button', { name: button, exact: true }).first().click();
    const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog'));
    await dialog.waitFor();
    await visitor.settle();
    await judge(visitor, `dialog ${button}`);
    assert.deepEqual(await findBarriers(page), [], `dialog ${button} in light`);
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await findBarriers(page, 'colours'), [], `dialog ${button} in dark`);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }
});
