import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { findBarriers, findFaintColours } from '../../support/dashboard/axe.js';
import { ofStrangers } from '../../support/dashboard/failures.js';
import { overflowOf, seenIn } from '../../support/dashboard/seen.js';
import { walkByTab } from '../../support/dashboard/tab-walk.js';
import { readTexts, type SaidByService } from '../../support/dashboard/texts-in-page.js';
import type { Visitor } from '../../support/dashboard/visitor.js';

/** What is shown at the moment: a page, or a dialog on it. */
export interface Shown {
  readonly visitor: Visitor;
  /** What the service has said to this visitor's page. */
  readonly said: SaidByService;
  /** The open dialog; undefined while the page stands alone. */
  readonly dialog: Locator | undefined;
}

/** Asks one thing of what is shown, and leaves it as it was. It throws on each answer that is not right. */
export type Question = (shown: Shown) => Promise<void>;

/** What a person notices of parts that move by themselves. */
const MOST_SHIFT = 0.05;

/** Nothing happened that no one asked for, and nothing moved. */
export const isQuiet: Question = async ({ visitor }) => {
  const { violations, shift, moved } = await seenIn(visitor.page);
  const found = {
    violations,
    complaints: visitor.complaints.splice(0),
    outside: visitor.outside.splice(0),
    refusals: visitor.refusals.splice(0).filter((refusal) => !ofStrangers.includes(refusal)),
    overflow: await overflowOf(visitor.page),
    moved: shift > MOST_SHIFT ? moved : [],
  };
  const nothing = { violations: [], complaints: [], outside: [], refusals: [], overflow: [], moved: [] };
  assert.deepEqual(found, nothing, 'it is quiet');
};

/** Nothing keeps anybody from using it. */
export const isOpenToEverybody: Question = async ({ visitor, dialog }) => {
  assert.deepEqual(await findBarriers(visitor.page, dialog), [], 'in light');
};

/** In the dark only colours differ; what stands behind a dialog was asked about before. */
export const isOpenInTheDark: Question = async ({ visitor: { page }, dialog }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.deepEqual(await findFaintColours(dialog ?? page.locator('html')), [], 'in dark');
  await page.emulateMedia({ colorScheme: 'light' });
};

/** Tab leads to all that can be used, and each shows that it has the focus. */
export const isReachedByTab: Question = async ({ visitor }) => {
  assert.deepEqual(await walkByTab(visitor.page), [], 'by Tab');
};

/** An open dialog has the focus, and Tab goes round in it. */
export const keepsTheFocus: Question = async ({ visitor: { page }, dialog }) => {
  assert.ok(dialog);
  const isInside = () => dialog.evaluate((element) => element.contains(document.activeElement));
  assert.ok(await isInside(), 'it has the focus');
  for (let step = 0; step < 12; step += 1) {
    await page.keyboard.press('Tab');
    assert.ok(await isInside(), 'it keeps the focus');
  }
};

/** Each text comes from a catalogue; asked in the pseudo-locale, which puts those into brackets. */
export const takesTextsFromCatalogues: Question = async ({ visitor, said }) => {
  const texts = await readTexts(visitor.page);
  assert.ok(texts.some(({ text }) => text.includes('⟦')));
  const literal = texts
    .filter(({ text }) => /[A-Za-z]{2}/.test(said.without(text)))
    .map(({ text, where }) => `${text}  in ${where}`);
  assert.deepEqual(literal, [], 'texts of no catalogue');
};

/** Nothing stands beyond the right edge. */
export const hasRoom: Question = async ({ visitor }) => {
  assert.deepEqual(await overflowOf(visitor.page), [], 'it has room');
};

/** What stands beside the navigation takes most of a wide screen; the sign-in is a card in its middle. */
export const usesTheWidth: Question = async ({ visitor: { page } }) => {
  const { used, width } = await page.evaluate(() => {
    const main = document.querySelector('main');
    const shown = [...(main?.querySelectorAll('section, ul, form') ?? [])].map((part) =>
      part.getBoundingClientRect(),
    );
    const left = Math.min(...shown.map((box) => box.left));
    const right = Math.max(...shown.map((box) => box.right));
    return { used: right - left, width: main?.clientWidth ?? 0 };
  });
  if (new URL(page.url()).pathname === '/login') return;
  assert.ok(used > 0.75 * width, `it uses ${Math.round(used)} of ${width} px`);
};
