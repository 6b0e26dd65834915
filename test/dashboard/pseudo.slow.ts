import assert from 'node:assert/strict';
import { pseudoText } from '../../clients/dashboard/src/texts/texts.js';
import { pages, type WalkedPage } from '../../lab/dashboard/pages.js';
import type { Visitor } from '../support/dashboard/dashboard.js';
import { startLivedLab, type LivedLab } from '../support/dashboard/lived-lab.js';
import { overflowOf } from '../support/dashboard/seen.js';
import { readTexts, SaidByService } from '../support/dashboard/texts-in-page.js';

/** The language that nobody speaks (clients/dashboard/src/texts/texts.ts): it is a third longer, in brackets. */
describe('the dashboard in the pseudo-locale', function () {
  this.timeout(60_000);
  let world: LivedLab;
  let ada: Visitor;
  let said: SaidByService;

  before(async () => {
    world = await startLivedLab();
    ada = await world.lab.visit({ viewport: { width: 390, height: 844 } });
    await ada.context.addInitScript(() => localStorage.setItem('locale', 'en-XA'));
    said = new SaidByService(ada.page);
  });
  after(() => world.stop());

  for (const walked of pages) {
    it(`${walked.name} takes each of its texts from a catalogue, and has room for longer ones`, async () => {
      await openAs(walked);
      assert.deepEqual(await literalTexts(), []);
      assert.deepEqual(await overflowOf(ada.page), []);
      for (const button of walked.opens ?? []) {
        await ada.page
          .locator('main')
          .getByRole('button', { name: pseudoText(button), exact: true })
          .first()
          .click();
        await ada.page.getByRole('dialog').waitFor();
        await ada.settle();
        assert.deepEqual(await literalTexts(), [], `dialog ${button}`);
        assert.deepEqual(await overflowOf(ada.page), [], `dialog ${button}`);
        await ada.page.keyboard.press('Escape');
      }
    });
  }

  async function openAs({ isPublic, address }: WalkedPage): Promise<void> {
    if (isPublic) await ada.context.clearCookies();
    else if ((await ada.context.cookies()).length === 0) await ada.signIn(world.lived.email);
    await ada.page.goto(address(world.lived));
    await ada.settle();
  }

  async function literalTexts(): Promise<string[]> {
    const texts = await readTexts(ada.page);
    assert.ok(texts.some(({ text }) => text.includes('⟦')));
    return texts
      .filter(({ text }) => /[A-Za-z]{2}/.test(said.without(text)))
      .map(({ text, where }) => `${text}  in ${where}`);
  }
});
