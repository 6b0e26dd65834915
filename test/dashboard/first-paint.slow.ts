import assert from 'node:assert/strict';
import { loginTexts } from '../../clients/dashboard/src/texts/login.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { seenIn, watchDocuments } from '../support/dashboard/seen.js';

describe('the first paint of the dashboard', function () {
  this.timeout(60_000);
  let lab: DashboardLab;
  before(async () => {
    lab = await DashboardLab.start();
  });
  after(() => lab.stop());

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
        assert.deepEqual(await page.getByRole('main').getByText(loginTexts.emailHint).boundingBox(), before);
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
