import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { pages } from '../../lab/dashboard/pages.js';
import { DashboardLab, type Visitor } from '../support/dashboard/dashboard.js';
import { Purse } from '../support/dashboard/paying.js';
import { until } from '../support/until.js';

const phone = { width: 390, height: 844 };

/** A user, and all that only they may see. */
interface Somebody {
  readonly email: string;
  readonly rentalId: string;
  /** Texts that no page of another user may contain. */
  readonly secrets: readonly string[];
}

/** The pages of whoever is signed in that have no id in their address. */
const addresses = pages
  .filter(({ isPublic, route }) => !isPublic && !route.includes('$'))
  .map(({ address }) => address({ email: '', runningId: '', endedId: '', webhookId: '' }));

describe('two users of the dashboard', function () {
  this.timeout(120_000);
  let lab: DashboardLab;
  let ann: Somebody;
  let bob: Somebody;
  const visitors: Visitor[] = [];
  before(async () => {
    lab = await DashboardLab.start({ durations: { provisionMs: 50 } });
    ann = await moveIn('ann', 12_345);
    bob = await moveIn('bob', 67_891);
  });
  after(() => lab.stop());
  afterEach(() => Promise.all(visitors.splice(0).map((visitor) => visitor.close())));

  /** Gives a new user a machine, a key and money, all of them named after them. */
  async function moveIn(name: string, cents: number): Promise<Somebody> {
    const email = `${name}@example.com`;
    const visitor = await (await lab.visit()).signIn(email);
    await new Purse(visitor).pay(cents);
    await visitor.ask('POST', '/v1/ssh-keys', { data: { name: `${name}-keyring`, generate: true } });
    const about = { name: `${name}-machine`, labels: { team: `${name}-team` } };
    const { id: rentalId } = await visitor.ask<{ id: string }>('POST', '/v1/rentals', {
      data: { familyId: 'rtx-4090', gpuCount: 1, ...about },
    });
    await visitor.close();
    const paid = (cents / 100).toFixed(2);
    const secrets = [email, rentalId, `${name}-machine`, `${name}-keyring`, `${name}-team`, paid];
    return { email, rentalId, secrets };
  }

  async function visit(): Promise<Visitor> {
    const visitor = await lab.visit();
    visitors.push(visitor);
    return visitor;
  }

  /** What a page holds of somebody, seen or not. */
  async function tracesOf({ secrets }: Somebody, page: Page): Promise<string[]> {
    const content = await page.content();
    return secrets.filter((secret) => content.includes(secret));
  }

  async function walk(visitor: Visitor, own: Somebody, other: Somebody): Promise<void> {
    const ownSeen = new Set<string>();
    for (const address of addresses) {
      await visitor.page.goto(address);
      await visitor.settle();
      for (const seen of await tracesOf(own, visitor.page)) ownSeen.add(seen);
      assert.deepEqual(await tracesOf(other, visitor.page), [], address);
    }
    assert.ok(ownSeen.has(own.email) && ownSeen.has(own.secrets[2] ?? ''), [...ownSeen].join());
  }

  it('see nothing of each other, each in a browser', async () => {
    const [annes, bobs] = [await visit(), await visit()];
    await annes.signIn(ann.email);
    await bobs.signIn(bob.email);
    await annes.open(`/app/rentals/${ann.rentalId}`);
    await bobs.page.goto(`/app/rentals/${ann.rentalId}`);
    await bobs.settle();
    const traces = await tracesOf(ann, bobs.page);
    assert.deepEqual(
      traces.filter((trace) => trace !== ann.rentalId),
      [],
    );
  });

  it('see nothing of each other, one after the other in one browser', async () => {
    const visitor = await visit();
    await visitor.signIn(ann.email);
    for (const path of [`/app/rentals/${ann.rentalId}`, '/app/ledger', '/app/rentals'])
      await visitor.open(path);
    await visitor.page.getByText('ann-machine').first().waitFor();
    await signOut(visitor.page);
    assert.deepEqual(await tracesOf(ann, visitor.page), []);
    // Whoever sits down next presses “back”, and sees nothing.
    for (let time = 0; time < 2; time += 1) {
      await visitor.page.goBack();
      await visitor.page.waitForURL(/\/login/);
      await visitor.settle();
      assert.deepEqual(await tracesOf(ann, visitor.page), []);
    }
    await visitor.signIn(bob.email);
    await walk(visitor, bob, ann);
    assert.deepEqual(await keptBy(visitor.page), []);
  });

  it('see nothing of each other in another tab', async () => {
    const visitor = await visit();
    await visitor.signIn(ann.email);
    await visitor.open('/app/rentals');
    const second = await visitor.context.newPage();
    await second.goto('/app/rentals');
    for (const page of [visitor.page, second]) await page.getByText('ann-machine').first().waitFor();
    await signOut(second);
    await visitor.page.waitForURL(/\/login/);
    assert.deepEqual(await tracesOf(ann, visitor.page), []);
    await visitor.signIn(bob.email);
    await second.goto('/app/rentals');
    await second.getByText('bob-machine').first().waitFor();
    for (const page of [visitor.page, second]) assert.deepEqual(await tracesOf(ann, page), []);
  });

  it('see nothing of each other when one signs in over the other', async () => {
    const visitor = await visit();
    await visitor.signIn(ann.email);
    await visitor.open('/app/rentals');
    await visitor.page.getByText('ann-machine').first().waitFor();
    const second = await visitor.context.newPage();
    await visitor.signIn(bob.email);
    await second.goto('/app/rentals');
    await second.getByText('bob-machine').first().waitFor();
    await until('the first tab shows nothing of Ann', async () => {
      return (await tracesOf(ann, visitor.page).catch(() => ['on its way'])).length === 0;
    });
    await visitor.settle();
    assert.deepEqual(await tracesOf(ann, visitor.page), []);
    assert.deepEqual(await tracesOf(ann, second), []);
  });

  async function signOut(page: Page): Promise<void> {
    await page.setViewportSize(phone);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(/\/login/);
    await page.setViewportSize({ width: 1_280, height: 800 });
  }

  /** What a browser keeps beyond its cookie, but for the theme, the language, and how far a page was scrolled. */
  function keptBy(page: Page): Promise<string[]> {
    return page.evaluate(async () => {
      // Choices of whoever sits there, and that somebody is signed in, which names nobody.
      const ofBrowser = ['theme', 'locale', 'signed-in'];
      const databases = await indexedDB.databases();
      return [
        ...Object.keys(localStorage).filter((name) => !ofBrowser.includes(name)),
        ...Object.keys(sessionStorage).filter((name) => !name.startsWith('tsr-scroll-restoration')),
        ...(await caches.keys()),
        ...databases.map(({ name }) => name ?? ''),
      ];
    });
  }
});
