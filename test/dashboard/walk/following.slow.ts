import type { Locator, Page } from 'playwright-core';
import { findFreePorts } from '../../../lab/stack/ports.js';
import { DashboardLab, visit, type Visitor } from '../../support/dashboard/dashboard.js';
import { SaidByService } from '../../support/dashboard/texts-in-page.js';
import { hasRoom, isOpenInTheDark, isOpenToEverybody, keepsTheFocus, type Question } from './questions.js';

/** A dialog that opens only once something was sent, made or stored. */
interface Following {
  readonly name: string;
  readonly path: string;
  /** What the service answers beside what it would. */
  readonly given?: (page: Page) => Promise<void>;
  readonly open: (page: Page) => Promise<void>;
  /** The title of the dialog. */
  readonly title: string;
  /** Only narrow screens have it. */
  readonly isOfPhones?: true;
}

const inDialog = (page: Page): Locator => page.getByRole('dialog').last();

const press = (scope: Page | Locator, name: string): Promise<void> =>
  scope.getByRole('button', { name, exact: true }).first().click();

async function send(page: Page, button: string, field: string, text: string): Promise<void> {
  await inDialog(page).getByLabel(field, { exact: true }).fill(text);
  await press(inDialog(page), button);
}

async function createKey(page: Page): Promise<void> {
  await press(page, 'Create a key');
  await send(page, 'Create a key', 'Name', 'agent');
}

async function wantsProof(page: Page): Promise<void> {
  await page.route('**/v1/api-keys', (route, request) =>
    request.method() === 'POST'
      ? route.continue({ headers: { ...request.headers(), 'x-mock-failure': 'fresh_sign_in_required' } })
      : route.fallback(),
  );
}

const passkey = {
  ...{ id: 'pk_0', name: 'MacBook', synced: true },
  ...{ createdAt: '2026-01-02T03:04:05.000Z', lastUsedAt: null },
};

async function hasPasskey(page: Page): Promise<void> {
  await page.route('**/v1/auth/passkeys', (route) => route.fulfill({ json: { passkeys: [passkey] } }));
}

const dialogs: readonly Following[] = [
  {
    name: 'a pair of keys that was made',
    path: '/app/keys',
    async open(page) {
      await press(page, 'Add a key');
      await inDialog(page).getByText('Create a pair').click();
      await send(page, 'Create the pair', 'Name', 'laptop');
    },
    title: 'Save the private key now',
  },
  {
    name: 'a webhook’s secret',
    path: '/app/webhooks',
    async open(page) {
      await press(page, 'Add a webhook');
      await send(page, 'Add a webhook', 'Address', 'https://example.com/hook');
    },
    title: 'Save the secret now',
  },
  { name: 'an API key', path: '/app/api-keys', open: createKey, title: 'Copy the key now' },
  {
    name: 'the question for a code',
    path: '/app/api-keys',
    given: wantsProof,
    open: createKey,
    title: 'Confirm that it is you',
  },
  {
    name: 'the question for a passkey',
    path: '/app/api-keys',
    async given(page) {
      await hasPasskey(page);
      await wantsProof(page);
    },
    open: createKey,
    title: 'Confirm that it is you',
  },
  {
    name: 'a new passkey',
    path: '/app/sessions',
    open: (page) => press(page, 'Add a passkey'),
    title: 'Add a passkey',
  },
  {
    name: 'another name of a passkey',
    path: '/app/sessions',
    given: hasPasskey,
    open: (page) => press(page, 'Rename passkey MacBook'),
    title: 'Rename the passkey',
  },
  {
    name: 'the end of a passkey',
    path: '/app/sessions',
    given: hasPasskey,
    open: (page) => press(page, 'Remove passkey MacBook'),
    title: 'Remove passkey “MacBook”?',
  },
  {
    name: 'the list of pages',
    path: '/app',
    open: (page) => press(page, 'More'),
    title: 'Pages',
    isOfPhones: true,
  },
];

const phone = { width: 390, height: 844 };
const wider = [
  { width: 1_280, height: 800 },
  { width: 2_560, height: 1_440 },
];

const asks: readonly Question[] = [isOpenToEverybody, isOpenInTheDark, keepsTheFocus, hasRoom];

describe('each dialog that follows something', function () {
  this.timeout(120_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  before(async () => {
    const [port = 0] = await findFreePorts(1);
    // No browser makes passkeys for an address of digits.
    const origin = `http://localhost:${port}`;
    lab = await DashboardLab.start({ port, dashboardUrl: origin });
    visitor = await visit(origin, { viewport: phone, colorScheme: 'light' });
    await visitor.signIn();
  });
  after(async () => {
    await visitor.end();
    await lab.stop();
  });
  afterEach(() => visitor.page.unrouteAll());

  for (const { name, path, given, open, title, isOfPhones } of dialogs) {
    const sizes = [phone, ...(isOfPhones ? [] : wider)];
    it(`${name}, seen at ${sizes.map(({ width }) => width).join(', ')} px`, async () => {
      const { page } = visitor;
      await page.setViewportSize(phone);
      await given?.(page);
      await visitor.open(path);
      await open(page);
      const dialog = page
        .getByRole('dialog', { name: title })
        .or(page.getByRole('alertdialog', { name: title }));
      await dialog.waitFor();
      for (const size of sizes) {
        await page.setViewportSize(size);
        await visitor.settle();
        for (const ask of asks) await ask({ visitor, said: new SaidByService(page), dialog });
      }
    });
  }
});
