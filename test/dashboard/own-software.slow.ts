import assert from 'node:assert/strict';
import type { Page, Request } from 'playwright-core';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { Renter } from '../support/dashboard/renter.js';
import { until } from '../support/until.js';

describe('own software in the dashboard', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let page: Page;
  let renter: Renter;
  before(async () => {
    lab = await DashboardLab.start({ durations: { provisionMs: 50, endMs: 300, lostMs: 50 } });
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

  it('shows where each port is reached, and warns of those that are public', async () => {
    const id = await renter.rent({
      ...{ familyId: 'rtx-4090', gpuCount: 1, name: 'own', image: 'ghcr.io/ada/page:1', sshKeyIds: [] },
      ports: [
        { name: 'page', port: 8080, kind: 'http', public: true },
        { name: 'db', port: 5432, kind: 'tcp' },
      ],
    });
    await renter.reaches(id, 'running');
    await visitor.open(`/app/rentals/${id}`);
    const ports = page.getByRole('region', { name: 'Ports', exact: true });
    const link = ports.getByRole('link', { name: 'Open page' });
    await link.waitFor();
    assert.match((await link.getAttribute('href')) ?? '', /^http:\/\/203\.0\.113\.\d+:8080\/$/);
    assert.deepEqual(
      [await link.getAttribute('rel'), await link.getAttribute('target')],
      ['noopener noreferrer', '_blank'],
    );
    await ports.getByText(`gpu ports db -m ${id.slice(-6)}`).waitFor();
    await page.getByRole('alert').getByText('Its ports are public').waitFor();
    await page.getByText('Its software does not answer over SSH.').waitFor();
    if (process.env['PICTURES']) await page.screenshot({ path: process.env['PICTURES'], fullPage: true });
  });

  it('copies the token of a notebook, shows it nowhere, and says who can reach it', async () => {
    await visitor.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const wish = { familyId: 'rtx-4090', gpuCount: 1, templateId: 'jupyter' };
    const id = await renter.rent(wish);
    await renter.reaches(id, 'running');
    await visitor.open(`/app/rentals/${id}`);
    const ports = page.getByRole('region', { name: 'Ports', exact: true });
    await ports.getByText(`gpu notebook ${id.slice(-6)}`).waitFor();
    await ports.getByRole('button', { name: 'Copy token' }).click();
    await ports.getByText('Copied. Paste it where the notebook asks').waitFor();
    const token = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(token, /^[0-9a-f]{64}$/);
    assert.ok(!(await page.content()).includes(token));
    await picture(page, 'notebook-closed');

    const port = { name: 'lab', port: 8888, kind: 'http', public: true } as const;
    const open = await renter.rent({ ...wish, ports: [port] });
    await renter.reaches(open, 'running');
    await visitor.open(`/app/rentals/${open}`);
    const link = ports.getByRole('link', { name: 'Open lab' });
    await link.waitFor();
    assert.equal(await link.getAttribute('rel'), 'noopener noreferrer');
    await ports.getByText('Only its token keeps others out.').waitFor();
    // Where the browser forbids copying, it is shown to be copied by hand.
    await page.context().clearPermissions();
    await page.evaluate(() => {
      navigator.clipboard.write = () => Promise.reject(new Error('not allowed'));
    });
    await ports.getByRole('button', { name: 'Copy token' }).click();
    await ports.getByText('Your browser blocked copying.').waitFor();
    assert.match((await ports.locator('code').last().textContent()) ?? '', /^[0-9a-f]{64}$/);
    await picture(page, 'notebook-open');
  });

  const quote = () => page.getByRole('region', { name: 'Your quote' });
  const rentButton = () => quote().getByRole('button', { name: /^Rent for/ });
  const unfold = async () => {
    await page.getByRole('button', { name: 'Your own software' }).click();
    await page.getByLabel('Image', { exact: true }).waitFor();
  };
  const isQuoted = (text: string) => quote().getByText(text).waitFor();
  /** The bodies that the page has sent. */
  const watchBodies = (path: string): Record<string, unknown>[] => {
    const bodies: Record<string, unknown>[] = [];
    page.on('request', (request: Request) => {
      if (request.method() !== 'POST' || new URL(request.url()).pathname !== path) return;
      const key = request.headers()['idempotency-key'];
      bodies.push({ ...(request.postDataJSON() as object), ...(path === '/v1/rentals' && { key }) });
    });
    return bodies;
  };
  const typeAll = async () => {
    await page.getByLabel('Image', { exact: true }).fill('ghcr.io/ada/page:1');
    await page.getByLabel('Registry user').fill('ada');
    await page.getByLabel('Registry password or token').fill('secret-of-registry');
    await page.getByLabel('Arguments').fill('--listen\nsecret-of-args');
    await page.getByLabel('Variables').fill('# for the hub\nTOKEN=secret-of-env');
    await page.getByRole('button', { name: 'Add a port' }).click();
    await page.locator('input:focus').pressSequentially('page');
    await page.getByLabel('Number of port 1').fill('8080');
    await page.getByLabel('Make port 1 public').check();
    await page.getByText('Your software must ask for a password.').waitFor();
    await page.getByLabel('Disk (GB)').fill('200');
    await page.getByLabel('Disk (GB)').blur();
  };

  it('is asked for in the Rent form, and no secret of it is kept by the browser', async () => {
    const quotes = watchBodies('/v1/quotes');
    await visitor.open('/app/rent/rtx-4090?template=vllm');
    await rentButton().waitFor();
    await unfold();
    await typeAll();
    await isQuoted('Open to everyone: page');
    await quote()
      .getByText(/2 min after it runs at the latest/)
      .waitFor();
    assert(await page.getByLabel('Template').isDisabled());
    const { familyId, gpuCount, sshKeyIds, ...asked } = quotes.at(-1) ?? {};
    assert.deepEqual([familyId, gpuCount, (sshKeyIds as string[]).length], ['rtx-4090', 1, 1]);
    assert.deepEqual(asked, {
      ...{ image: 'ghcr.io/ada/page:1', args: ['--listen', 'secret-of-args'], diskGb: 200 },
      registryAuth: { username: 'ada', password: 'secret-of-registry' },
      env: { TOKEN: 'secret-of-env' },
      ports: [{ name: 'page', port: 8080, kind: 'http', public: true }],
    });
    // The answer is lost: what is sent again is the same quote under the same key, without any of it.
    const creates = watchBodies('/v1/rentals');
    await page.route('**/v1/rentals', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    });
    await rentButton().click();
    await quote().getByText('We don’t know yet whether it was rented').waitFor();
    assert(await page.getByLabel('Image', { exact: true }).isDisabled());
    const kept = await page.evaluate(() =>
      [
        location.href,
        JSON.stringify(history.state),
        ...[localStorage, sessionStorage].map((s) => JSON.stringify(s)),
      ].join(),
    );
    assert.match(kept, /"wish:rent"/);
    assert.doesNotMatch(kept, /secret-of|ghcr/);
    await page.unrouteAll();
    await quote().getByRole('button', { name: 'Check again' }).click();
    await page.waitForURL(/\/app\/rentals\/rent_/);
    assert.equal(creates.length, 2);
    assert.deepEqual(creates[0], creates[1]);
    assert.deepEqual(Object.keys(creates[0] ?? {}).sort(), ['key', 'quoteId']);
    const [rental, ...others] = await renter.rentals();
    assert.equal(others.length, 0);
    assert.deepEqual(
      [rental?.software?.image, rental?.endpoints.map(({ name }) => name), rental?.software?.diskGb],
      ['ghcr.io/ada/page:1', ['page'], 200],
    );
    visitor.complaints.splice(0);
  });

  it('says at its field what is wrong, what nobody can do, and what the service refuses', async () => {
    await visitor.open('/app/rent/rtx-4090');
    await rentButton().waitFor();
    await unfold();
    const descriptionOf = (label: string): Promise<string> =>
      page.getByLabel(label).evaluate((field) => {
        const ids = field.getAttribute('aria-describedby') ?? '';
        return document.getElementById(ids)?.textContent ?? '';
      });
    const isDescribed = (label: string, by: RegExp) =>
      until(`${label} says ${by}`, async () => by.test(await descriptionOf(label)));
    await page.getByLabel('Variables').fill('A=1\nnot one');
    await page.getByText('Line 2 is not KEY=value.').waitFor();
    await isQuoted('Correct the marked fields. This price does not include them.');
    await page.getByLabel('Variables').fill('PUBLIC_KEY=1');
    await isDescribed('Variables', /may not set PUBLIC_KEY/);
    await page.getByLabel('Variables').fill('');
    await page.getByLabel('Registry user').fill('ada');
    await page.getByText('Enter both the user and the password, or neither.').waitFor();
    await page.getByLabel('Registry user').fill('');
    await page.getByLabel('Start script').fill('echo 1');
    await page.getByLabel('Image', { exact: true }).fill('ghcr.io/ada/page:1');
    await isDescribed('Start script', /that keeps its entrypoint/);
    await page.getByLabel('Replace its entrypoint').check();
    await page.getByText('without them the machine never answers, and you pay for it').waitFor();
    await until('it can be rented', () => rentButton().isEnabled());
    await picture(page, 'own-replaced');
    await page.getByLabel('Start script').fill('');
    await page.getByText('Enter a start script or arguments to run instead.').waitFor();
    await until('it can’t be rented', async () => !(await rentButton().isEnabled()));
    await page.getByLabel('Arguments').fill('serve');
    await until('its words run', () => rentButton().isEnabled());
    await page.getByLabel('Replace its entrypoint').uncheck();
    await until('its entrypoint stays', () => rentButton().isEnabled());
    await page.getByRole('button', { name: 'Add a port' }).click();
    await page.locator('input:focus').pressSequentially('page');
    await page.getByLabel('Number of port 1').fill('22');
    await page.getByText(/a number up to 65535, but not 22/).waitFor();
    assert.equal(await rentButton().isEnabled(), false);
    await page.getByRole('button', { name: 'Remove port 1' }).click();
    await until('it can be rented again', () => rentButton().isEnabled());
    const misfit = {
      ...{ providerCode: 'vast', field: 'sshKeyIds', limit: 3_700 },
      message: 'takes at most 3700 characters of SSH keys',
    };
    await page.route('**/v1/quotes', (route) =>
      route.fulfill({
        status: 400,
        json: {
          ...{ error: 'software_unsupported', message: 'sshKeyIds: no.', requestId: 'req' },
          details: { misfits: [misfit, misfit] },
        },
      }),
    );
    await visitor.open('/app/rent/rtx-4090');
    const told = 'vast takes at most 3700 characters of SSH keys.';
    const keys = page.getByRole('region', { name: 'SSH keys', exact: true });
    await keys.getByText(`${told} Choose fewer keys`).waitFor();
    const why = page.getByRole('alert').filter({ hasText: 'No such machine can do all of this' });
    assert.equal((await why.textContent())?.split(told).length, 2, 'once, in words of people');
    assert.equal(await why.getByRole('button').count(), 0, 'the same again is refused again');
  });

  it('asks for an entrypoint that is replaced, and rents by it', async () => {
    const quotes = watchBodies('/v1/quotes');
    await visitor.open('/app/rent/rtx-4090');
    await rentButton().waitFor();
    await unfold();
    await page.getByLabel('Image', { exact: true }).fill('ghcr.io/ada/page:1');
    await page.getByLabel('Start script').fill('echo 1');
    await page.getByLabel('Replace its entrypoint').check();
    await until('it is quoted', () => quotes.at(-1)?.['entrypoint'] === 'replace');
    await until('it can be rented', () => rentButton().isEnabled());
    await rentButton().click();
    await page.waitForURL(/\/app\/rentals\/rent_/);
    const [rental] = await renter.rentals();
    assert.equal(rental?.software?.entrypoint, 'replace');
  });

  it('goes along to another machine, and stays while it is folded', async () => {
    const quotes = watchBodies('/v1/quotes');
    await visitor.open('/app/rent/h100-80gb?gpus=8');
    await rentButton().waitFor();
    await unfold();
    await page.getByLabel('Image', { exact: true }).fill('ghcr.io/ada/page:1');
    await page.getByLabel('Image', { exact: true }).blur();
    await page.getByRole('button', { name: 'Your own software (in use)' }).click();
    await page.getByLabel('Image', { exact: true }).waitFor({ state: 'hidden' });
    await quote()
      .getByRole('button', { name: /8 × A100 80 GB/ })
      .click();
    await page.getByRole('heading', { level: 1, name: 'Rent A100 80 GB' }).waitFor();
    await until('it is quoted there', () => quotes.at(-1)?.['familyId'] === 'a100-80gb');
    assert.equal(quotes.at(-1)?.['image'], 'ghcr.io/ada/page:1');
    assert.equal(await page.getByLabel('Image', { exact: true }).inputValue(), 'ghcr.io/ada/page:1');
  });

  it('is still there after a visit to money, and asked for again where the document was left', async () => {
    await visitor.context.clearCookies();
    renter = await Renter.signIn(visitor, { cents: 100 });
    const lost = page.getByText('Enter your own software again');
    await visitor.open('/app/rent/h100-80gb?gpus=8');
    await quote()
      .getByText(/^You need /)
      .waitFor();
    await unfold();
    await page.getByLabel('Image', { exact: true }).fill('ghcr.io/ada/page:1');
    await quote().getByRole('link', { name: 'Add money' }).click();
    await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor();
    await page.goBack();
    assert.equal(await page.getByLabel('Image', { exact: true }).inputValue(), 'ghcr.io/ada/page:1');
    assert.equal(await lost.count(), 0);
    await page.reload();
    await lost.waitFor();
    await unfold();
    await page.getByLabel('Image', { exact: true }).fill('ghcr.io/ada/page:2');
    await lost.waitFor({ state: 'detached' });
    await renter.pay(50_000);
    await rentButton().click();
    await page.waitForURL(/\/app\/rentals\/rent_/);
    assert.equal((await renter.rentals())[0]?.software?.image, 'ghcr.io/ada/page:2');
    // It was rented: the next form begins without it.
    await page.goBack();
    await rentButton().waitFor();
    assert.equal(await page.getByLabel('Image', { exact: true }).count(), 0);
    assert.equal(await lost.count(), 0);
  });

  it('can be read on a desk and on a phone', async () => {
    await visitor.open('/app/rent/rtx-4090');
    await rentButton().waitFor();
    await unfold();
    await typeAll();
    await isQuoted('Open to everyone: page');
    for (const [name, width, colorScheme] of looks) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert(overflow <= 0, `${name} is ${overflow} px too wide`);
      const folder = process.env['PICTURES_IN'];
      if (folder) await page.screenshot({ path: `${folder}/own-${name}.png`, fullPage: true });
    }
    await page.emulateMedia({ colorScheme: null });
    await page.setViewportSize({ width: 1_280, height: 800 });
  });
});

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['PICTURES_IN'];
  if (!folder) return;
  for (const width of [1_280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    await page.screenshot({ path: `${folder}/${name}-${width}.png`, fullPage: true });
  }
  await page.setViewportSize({ width: 1_280, height: 800 });
}

const looks = [
  ['desk', 1_280, 'light'],
  ['phone', 390, 'light'],
  ['dark', 1_280, 'dark'],
] as const;
