import assert from 'node:assert/strict';
import { pages, type WalkedPage } from '../../lab/dashboard/pages.js';
import type { Visitor } from '../support/dashboard/dashboard.js';
import { startLivedLab, type LivedLab } from '../support/dashboard/lived-lab.js';
import { walkByTab } from '../support/dashboard/tab-walk.js';
import { until } from '../support/until.js';

describe('the dashboard without a mouse', function () {
  this.timeout(60_000);
  let world: LivedLab;
  let stranger: Visitor;
  let ada: Visitor;

  before(async () => {
    world = await startLivedLab();
    stranger = await world.lab.visit();
    ada = await (await world.lab.visit()).signIn(world.lived.email);
  });
  after(() => world.stop());

  async function open({ isPublic, address }: WalkedPage): Promise<Visitor> {
    const visitor = isPublic ? stranger : ada;
    await visitor.page.goto(address(world.lived));
    await visitor.settle();
    return visitor;
  }

  for (const walked of pages) {
    it(`${walked.name} shows where the focus is, and leaves nothing out`, async () => {
      const { page } = await open(walked);
      assert.deepEqual(await walkByTab(page), []);
    });
  }

  for (const walked of pages.filter(({ opens = [] }) => opens.length > 0)) {
    it(`${walked.name} opens dialogs that take the focus, and give it back at Escape`, async () => {
      const { page } = await open(walked);
      for (const button of walked.opens ?? []) {
        const opener = page.locator('main').getByRole('button', { name: button, exact: true }).first();
        await opener.focus();
        await page.keyboard.press('Enter');
        const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog'));
        await dialog.waitFor();
        const isInside = () => dialog.evaluate((element) => element.contains(document.activeElement));
        assert.ok(await isInside(), `dialog ${button} has the focus`);
        // Tab goes round in it.
        for (let step = 0; step < 12; step += 1) {
          await page.keyboard.press('Tab');
          assert.ok(await isInside(), `dialog ${button} keeps the focus`);
        }
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
        await until(
          `the focus is back where dialog ${button} was opened`,
          () => opener.evaluate((element) => element === document.activeElement),
          2_000,
        );
      }
    });
  }
});
