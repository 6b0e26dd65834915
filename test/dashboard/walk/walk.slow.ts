import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { pseudoText } from '../../../clients/dashboard/src/texts/texts.js';
import { pages, type DialogOpener, type WalkedPage } from '../../../lab/dashboard/pages.js';
import { buildDashboard } from '../../support/dashboard/built.js';
import type { Visitor } from '../../support/dashboard/dashboard.js';
import { startLivedLab, type LivedLab } from '../../support/dashboard/lived-lab.js';
import { declaredRoutes } from '../../support/dashboard/routes.js';
import { watchDocuments } from '../../support/dashboard/seen.js';
import { SaidByService } from '../../support/dashboard/texts-in-page.js';
import { until } from '../../support/until.js';
import {
  hasRoom,
  isOpenInTheDark,
  isOpenToEverybody,
  isQuiet,
  isReachedByTab,
  keepsTheFocus,
  takesTextsFromCatalogues,
  usesTheWidth,
  type Question,
  type Shown,
} from './questions.js';

/** One way to see the pages, and what is asked then. */
interface Look {
  readonly name: string;
  readonly viewport: { readonly width: number; readonly height: number };
  /** Asked of each page, in this order. */
  readonly asks: readonly Question[];
  /** Asked of each dialog that a page opens; none is opened without a question. */
  readonly asksDialogs: readonly Question[];
  /** Who looks; default: who has lived here for weeks. */
  readonly email?: string;
  /** The pages that are seen so; default: all. */
  readonly sees?: (walked: WalkedPage) => boolean;
  /** What a document does before anything else, as an extension of the browser can. */
  readonly script?: () => void;
  /** How a button of the table of pages is called then. */
  readonly nameOf?: (button: string) => string;
}

const phone = { width: 390, height: 844 };
const desk = { width: 1_280, height: 800 };
const wide = { width: 2_560, height: 1_440 };

/** Each page is opened once for each of these. A new question is a line in a look; another browser is another look. */
const looks: readonly Look[] = [
  {
    name: 'on a phone',
    viewport: phone,
    asks: [isQuiet, isOpenToEverybody, isOpenInTheDark],
    asksDialogs: [isQuiet, isOpenToEverybody, keepsTheFocus, isOpenInTheDark],
  },
  {
    name: 'at a desk',
    viewport: desk,
    asks: [isQuiet, isOpenToEverybody, isOpenInTheDark, isReachedByTab],
    asksDialogs: [isOpenToEverybody, isOpenInTheDark],
  },
  {
    // Columns stand side by side here, and nothing is shown or hidden that a desk does not show or hide.
    name: 'on a wide screen',
    viewport: wide,
    asks: [isQuiet, usesTheWidth],
    asksDialogs: [],
  },
  {
    name: 'by a newcomer, who has nothing yet',
    viewport: phone,
    email: 'bob@example.com',
    sees: ({ isPublic, route }) => !isPublic && !route.includes('$'),
    asks: [isQuiet, isOpenToEverybody],
    asksDialogs: [],
  },
  {
    // The language that nobody speaks (clients/dashboard/src/texts/texts.ts): it is a third longer, in brackets.
    name: 'in the pseudo-locale',
    viewport: phone,
    script: () => localStorage.setItem('locale', 'en-XA'),
    nameOf: pseudoText,
    asks: [takesTextsFromCatalogues, hasRoom],
    asksDialogs: [takesTextsFromCatalogues, hasRoom],
  },
];

/** Somebody at a browser of their own, and what the service has said to it. */
type Walker = Pick<Shown, 'visitor' | 'said'>;

describe('each page of the dashboard', function () {
  // A page with three dialogs takes some 20 s on two idle cores.
  this.timeout(300_000);
  let world: LivedLab;
  const walkers = new Map<string, Walker>();

  before(async () => {
    world = await startLivedLab(await buildDashboard('development'));
  });
  after(() => world.stop());

  it('has a line in the table of pages', () => {
    const walked = new Set(pages.map(({ route }) => route));
    assert.deepEqual([...walked].toSorted(), declaredRoutes().toSorted());
  });

  it('shows and hides nothing on a wide screen alone, which is asked the least', () => {
    const sources = readdirSync('clients/dashboard/src', { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => readFileSync(join('clients/dashboard/src', file), 'utf8'));
    const classes = sources.flatMap((source) => source.match(/\b3xl:[\w-]+/g) ?? []);
    assert.ok(classes.length > 0);
    assert.deepEqual(
      classes.filter((name) => !/^3xl:(grid$|grid-cols-|max-w-|items-)/.test(name)),
      [],
    );
  });

  for (const look of looks) {
    describe(`seen ${look.name}`, () => {
      for (const walked of pages.filter((page) => look.sees?.(page) ?? true)) {
        it(walked.name, async () => {
          const walker = await walkerOf(look, walked);
          await open(walker.visitor, walked);
          for (const ask of look.asks) await ask({ ...walker, dialog: undefined });
          if (look.asksDialogs.length === 0) return;
          for (const button of walked.opens ?? []) await enterDialog(walker, look, button);
          for (const opening of walked.opensBy ?? []) await enterBy(walker, look, opening);
        });
      }
    });
  }

  /** Who looks at a page: pages for strangers are seen by somebody who is not signed in. */
  async function walkerOf(look: Look, { isPublic }: WalkedPage): Promise<Walker> {
    const key = `${look.name} ${isPublic === true}`;
    const known = walkers.get(key);
    if (known) return known;
    const options: BrowserContextOptions = { viewport: look.viewport, colorScheme: 'light' };
    const visitor = await world.lab.visit(options);
    if (isPublic !== true) await visitor.signIn(look.email ?? world.lived.email);
    if (look.script) await visitor.context.addInitScript(look.script);
    await watchDocuments(visitor.page);
    const walker = { visitor, said: new SaidByService(visitor.page) };
    walkers.set(key, walker);
    return walker;
  }

  async function open(visitor: Visitor, { address }: WalkedPage): Promise<void> {
    await visitor.page.goto(address(world.lived));
    await visitor.settle();
  }

  /** Opens a dialog by something else than a button alone, and leaves it by Escape. */
  async function enterBy(walker: Walker, { asksDialogs, nameOf }: Look, opener: DialogOpener): Promise<void> {
    const { page } = walker.visitor;
    const named = (text: string) => ({ name: nameOf?.(text) ?? text, exact: true });
    const main = page.locator('main');
    if ('presses' in opener) await page.keyboard.press(opener.presses);
    else if ('chooses' in opener) {
      const { name, exact } = named(opener.follows);
      await main.getByText(name, { exact }).click();
      await main.getByRole(opener.chooses).nth(1).click();
    } else {
      await main.getByRole('checkbox', named(opener.checks)).check();
      await main.getByRole('button', named(opener.button)).click();
    }
    await asked(walker, asksDialogs, JSON.stringify(opener));
  }

  /** Asks of the dialog that opens, and closes it. */
  async function asked(walker: Walker, asks: Look['asksDialogs'], opener: string): Promise<void> {
    const { page } = walker.visitor;
    const dialog = page.getByRole('dialog').or(page.getByRole('alertdialog'));
    try {
      await dialog.waitFor();
      await walker.visitor.settle();
      for (const ask of asks) await ask({ ...walker, dialog });
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`dialog ${opener}: ${why}`, { cause: error });
    }
  }

  /** Opens a dialog by its button without a mouse, and leaves it by Escape, which gives the focus back. */
  async function enterDialog(walker: Walker, { asksDialogs, nameOf }: Look, button: string): Promise<void> {
    const { page } = walker.visitor;
    const name = nameOf?.(button) ?? button;
    const opener = page.locator('main').getByRole('button', { name, exact: true }).first();
    await opener.focus();
    await page.keyboard.press('Enter');
    await asked(walker, asksDialogs, button);
    await until(`the focus is back at ${button}`, () =>
      opener.evaluate((element) => element === document.activeElement),
    );
  }
});
