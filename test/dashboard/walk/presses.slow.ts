import assert from 'node:assert/strict';
import type { Locator, Page, Request } from 'playwright-core';
import { pages, type WalkedPage } from '../../../lab/dashboard/pages.js';
import { startLivedLab, type LivedLab } from '../../support/dashboard/lived-lab.js';
import { Purse } from '../../support/dashboard/paying.js';
import type { Visitor } from '../../support/dashboard/visitor.js';
import { newSshKeyPair } from '../../support/ssh-key-pair.js';
import { until } from '../../support/until.js';

/** What fields take, by a part of their labels: of each form enough to be sent. */
const typed: Readonly<Record<string, string>> = {
  'Email address': 'grace@example.com',
  'Six-digit code': '123456',
  'Public key': newSshKeyPair('pressed').public,
  Address: 'https://hooks.example.com/gpu',
  Name: 'pressed',
  Notes: 'pressed',
};

/** What the walk must have sent, or it has pressed nothing that matters. */
const mustBeSent = [
  'DELETE /v1/api-keys/:id',
  'DELETE /v1/auth/sessions/:id',
  'DELETE /v1/billing/card',
  'DELETE /v1/ssh-keys/:id',
  'DELETE /v1/webhooks/:id',
  'PATCH /v1/rentals/:id',
  'POST /v1/api-keys',
  'POST /v1/auth/logout',
  'POST /v1/auth/request-code',
  'POST /v1/auth/sessions/end-others',
  'POST /v1/auth/verify-code',
  'POST /v1/billing/checkout',
  'POST /v1/rentals',
  'POST /v1/rentals/:id/stop',
  'POST /v1/ssh-keys',
  'POST /v1/webhooks',
  'POST /v1/webhooks/:id/ping',
  'PUT /v1/billing/auto-topup',
];

/** Pages with many buttons of which none sends. */
const onlyRead: readonly string[] = ['activity', 'ledger', 'statements', 'rental-ended'];

interface Walk extends WalkedPage {
  /** Who presses, where it is not who has lived here for weeks. */
  readonly asOther?: (visitor: Visitor) => Promise<unknown>;
}

const newcomer = async (visitor: Visitor): Promise<Purse> =>
  new Purse(await visitor.signIn('new@example.com'));

/** The walked pages, the second step of the sign-in, and what only somebody with a card sees. */
const walks: readonly Walk[] = [
  ...pages.filter(({ name }) => !onlyRead.includes(name)),
  {
    route: '/billing',
    name: 'billing-by-card',
    address: () => '/app/billing',
    asOther: async (visitor) => {
      const purse = await newcomer(visitor);
      await purse.saveCard();
      await purse.saveAutoTopup({ enabled: true, thresholdCents: 1_000, topupAmountCents: 2_500 });
    },
  },
  {
    route: '/login',
    name: 'login-code',
    address: () => '/login?error=oauth_confirm#email=grace%40example.com',
    isPublic: true,
  },
];

/** Reads that are written as POST: a price is asked for as often as the choices change. */
const reads = ['/v1/quotes'];

describe('each button of the dashboard', function () {
  this.timeout(600_000);
  let world: LivedLab;
  const everSent = new Set<string>();
  before(async () => {
    world = await startLivedLab();
  });
  after(() => world.stop());

  for (const walked of walks) {
    it(`sends one request for one press: ${walked.name}`, async () => {
      const visitor = await world.lab.visit({ viewport: { width: 1_280, height: 800 } });
      const { page } = visitor;
      if (walked.asOther) await walked.asOther(visitor);
      else if (walked.isPublic !== true) await visitor.signIn(world.lived.email);
      const sends = await holdSends(page);
      await openPage(visitor, walked);
      for (const [index, { name, place }] of (await kindsOfButtons(buttonsOf(page, walked))).entries()) {
        if (index > 0) await openPage(visitor, walked);
        sends.take();
        await fillIn(page.locator('body'));
        const button = buttonsOf(page, walked).nth(place);
        if ((await button.count()) === 0 || !(await button.isEnabled())) continue;
        await pressOften(button, sends.areOut);
        await pressInDialog(page, sends.areOut);
        const twice = sends.take().filter((one, index, all) => all.indexOf(one) !== index);
        assert.deepEqual(twice, [], `sent more than once by the button ${name}`);
      }
      for (const one of sends.all) everSent.add(one);
      await visitor.close();
    });
  }

  it('was pressed where it sends', () => {
    const missing = mustBeSent.filter((one) => !everSent.has(one));
    assert.deepEqual(missing, [], [...everSent].toSorted().join('\n'));
  });

  async function openPage(visitor: Visitor, { address }: WalkedPage): Promise<void> {
    // Nothing that was pressed before is asked about, and the document is a new one each time.
    if (visitor.page.url() !== 'about:blank') await visitor.page.evaluate(() => sessionStorage.clear());
    await visitor.page.goto('about:blank');
    await visitor.page.goto(address(world.lived));
    await visitor.settle();
  }
});

/** The rows of a long list lead on. */
const MOST_BUTTONS = 14;

/** The frame is the same around each page. */
const buttonsOf = (page: Page, { route }: WalkedPage): Locator =>
  page.locator(route === '/' ? 'main button:visible, [aria-label="Sign out"]' : 'main button:visible');

/** One button of each text: those of a long list do the same for each of its lines. */
async function kindsOfButtons(
  buttons: Locator,
): Promise<{ readonly name: string; readonly place: number }[]> {
  const names = await buttons.evaluateAll((all) =>
    all.map((button) => button.textContent.trim() || (button.getAttribute('aria-label') ?? '')),
  );
  const shapes = names.map((name) => name.replaceAll(/[\d.,:]+/g, '0'));
  return names
    .map((name, place) => ({ name, place }))
    .filter(({ place }) => shapes.indexOf(shapes[place] ?? '') === place)
    .slice(0, MOST_BUTTONS);
}

/** Lets no change through: each is noted, and answered by nothing for as long as its page is there. */
async function holdSends(page: Page) {
  let fresh: string[] = [];
  const all = new Set<string>();
  const isSend = (request: Request): boolean =>
    request.method() !== 'GET' && !reads.includes(new URL(request.url()).pathname);
  const others = new Set<Request>();
  page.on('request', (request) => {
    if (!isSend(request) && !request.url().endsWith('/stream')) others.add(request);
  });
  page.on('requestfinished', (request) => others.delete(request));
  page.on('requestfailed', (request) => others.delete(request));
  await page.route('**/v1/**', (route) => {
    const request = route.request();
    if (!isSend(request)) return route.fallback();
    const sent = `${request.method()} ${new URL(request.url()).pathname}`;
    fresh.push(sent);
    all.add(sent.replace(/\/[a-z]+_[0-9A-Za-z]+/, '/:id'));
    return undefined;
  });
  return {
    all,
    /** Waits until whatever a press leads to has been sent: some asks something before. */
    areOut: async (): Promise<void> => {
      let calmLooks = 0;
      await until('nothing else is under way', () => {
        calmLooks = others.size === 0 ? calmLooks + 1 : 0;
        return calmLooks > 2;
      });
    },
    /** What was sent since it was asked last. */
    take: (): string[] => {
      const taken = fresh;
      fresh = [];
      return taken;
    },
  };
}

type AreOut = () => Promise<void>;

/** Presses as impatient people do: twice at once, by Enter, and by a double click; until a dialog lies above it. */
async function pressOften(button: Locator, areOut: AreOut): Promise<void> {
  const page = button.page();
  const dialog = page.getByRole('dialog');
  const ways = [
    () => clickTwice(button),
    () => page.keyboard.press('Enter'),
    async () => {
      const place = await button.boundingBox();
      if (place) await page.mouse.dblclick(place.x + place.width / 2, place.y + place.height / 2);
    },
  ];
  for (const press of ways) {
    await press();
    await areOut();
    if ((await dialog.count()) > 0 || (await button.count()) === 0) return;
  }
}

/** Within one task: nothing is rendered in between. */
async function clickTwice(button: Locator): Promise<void> {
  await button.evaluate((element: HTMLElement) => {
    element.focus();
    element.click();
    element.click();
  });
}

/** Fills in and presses the main button of the dialog, where one has opened. */
async function pressInDialog(page: Page, areOut: AreOut): Promise<void> {
  const dialog = page.getByRole('dialog').last();
  if ((await dialog.count()) === 0) return;
  await fillIn(dialog);
  const main = dialog.getByRole('button').last();
  if (!(await main.isEnabled())) return;
  await clickTwice(main);
  await areOut();
  if ((await dialog.count()) > 0) await page.keyboard.press('Enter');
  await areOut();
}

async function fillIn(scope: Locator): Promise<void> {
  for (const [label, text] of Object.entries(typed)) {
    for (const field of await scope.getByLabel(label).and(scope.page().locator('input, textarea')).all()) {
      if ((await field.isEditable()) && (await field.inputValue()) === '') await field.fill(text);
    }
  }
}
