import assert from 'node:assert/strict';
import type { BrowserContext, Page, Request } from 'playwright-core';
import { DashboardLab, type Visitor } from '../../support/dashboard/dashboard.js';
import { Purse } from '../../support/dashboard/paying.js';
import { until } from '../../support/until.js';

/** The streams that a browser's tabs hold open. */
class OpenStreams {
  readonly #open = new Set<Request>();
  begun = 0;
  /** The event after which each stream was asked to go on; undefined: it began anew. */
  readonly resumedAfter: (string | undefined)[] = [];

  constructor(context: BrowserContext) {
    context.on('request', (request) => {
      if (new URL(request.url()).pathname !== '/v1/events/stream') return;
      this.#open.add(request);
      this.begun += 1;
      this.resumedAfter.push(request.headers()['last-event-id']);
    });
    context.on('requestfinished', (request) => this.#open.delete(request));
    context.on('requestfailed', (request) => this.#open.delete(request));
  }

  /** A tab that is gone has none, though nothing tells that its request has ended. */
  get open(): number {
    return [...this.#open].filter((request) => !request.frame().page().isClosed()).length;
  }
}

describe('the stream of a browser', function () {
  this.timeout(90_000);
  let lab: DashboardLab;
  let visitor: Visitor;
  let streams: OpenStreams;
  before(async () => {
    lab = await DashboardLab.start();
  });
  after(() => lab.stop());
  beforeEach(async () => {
    visitor = await lab.visit();
    streams = new OpenStreams(visitor.context);
  });
  afterEach(() => visitor.close());

  const fund = (who: Visitor, amountCents: number): Promise<void> => new Purse(who).pay(amountCents);
  const shows = (page: Page, amount: string): Promise<void> =>
    page.locator('dl > div', { hasText: 'Available' }).getByText(amount, { exact: true }).waitFor();
  const note = (page: Page, words: string) => page.getByRole('status').filter({ hasText: words }).first();
  const openTabs = async (count: number): Promise<Page[]> => {
    const pages = [await visitor.open('/app')];
    await until('a stream is open', () => streams.open === 1);
    while (pages.length < count) {
      const page = await visitor.context.newPage();
      await openIn(page, '/app');
      pages.push(page);
    }
    return pages;
  };

  it('is one for all tabs, and goes on with the next tab without a gap', async () => {
    await visitor.signIn('tabs@example.com');
    const [leader, ...others] = await openTabs(3);
    await fund(visitor, 1_000);
    for (const page of others) await shows(page, '$10.00');
    assert.equal(streams.begun, 1);
    await leader?.close();
    await fund(visitor, 500);
    await until('another tab holds it', () => streams.begun === 2 && streams.open === 1);
    for (const page of others) await shows(page, '$15.00');
    await fund(visitor, 250);
    for (const page of others) await shows(page, '$17.50');
    assert.match(streams.resumedAfter.at(-1) ?? '', /^\d+$/);
    assert.equal(streams.begun, 2);
  });

  it('goes on with the next tab when its own is put to sleep', async () => {
    await visitor.signIn('sleeper@example.com');
    const [leader, other] = await openTabs(2);
    assert.ok(leader && other);
    await leader.evaluate(() => document.dispatchEvent(new Event('freeze')));
    await until('another tab holds it', () => streams.begun === 2 && streams.open === 1);
    await fund(visitor, 700);
    await shows(other, '$7.00');
    await leader.evaluate(() => document.dispatchEvent(new Event('resume')));
    await other.close();
    await until('it holds it again', () => streams.begun === 3 && streams.open === 1);
    await fund(visitor, 100);
    await shows(leader, '$8.00');
  });

  it('is taken from a tab that does not answer', async () => {
    await visitor.signIn('silent@example.com');
    const [leader, other] = await openTabs(2);
    assert.ok(leader && other);
    // Nothing runs there any more, not even what would let go of the lock.
    const session = await visitor.context.newCDPSession(leader);
    await session.send('Debugger.enable');
    await session.send('Debugger.pause');
    const looking = other.evaluate(
      () =>
        new Promise<void>((resolve) => {
          const timer = setInterval(() => {
            document.dispatchEvent(new Event('visibilitychange'));
          }, 500);
          addEventListener(
            'taken',
            () => {
              clearInterval(timer);
              resolve();
            },
            { once: true },
          );
        }),
    );
    await until('another tab holds it', () => streams.begun === 2);
    await other.evaluate(() => dispatchEvent(new Event('taken')));
    await looking;
    await fund(visitor, 800);
    await shows(other, '$8.00');
    await session.send('Debugger.resume');
  });

  it('tells each user of their own alone', async () => {
    await visitor.signIn('one@example.com');
    const other = await lab.visit();
    await other.signIn('two@example.com');
    const [mine, theirs] = [await visitor.open('/app'), await other.open('/app')];
    await fund(visitor, 1_100);
    await shows(mine, '$11.00');
    await fund(other, 2_200);
    await shows(theirs, '$22.00');
    await shows(mine, '$11.00');
    assert.equal(await mine.getByText('$22.00').count(), 0);
    assert.equal(await theirs.getByText('$11.00').count(), 0);
    await other.close();
  });

  it('ends in all tabs when one of them signs out', async () => {
    await visitor.signIn('leaver@example.com');
    const [first, second] = await openTabs(2);
    await second?.getByRole('button', { name: 'Sign out' }).click();
    for (const page of [first, second]) await page?.waitForURL('**/login');
    await until('no stream is open', () => streams.open === 0);
    assert.equal(await first?.getByText('leaver@example.com').count(), 0);
  });

  it('shows nothing of the former user when another one signs in in another tab', async () => {
    await visitor.signIn('former@example.com');
    await fund(visitor, 3_300);
    const page = await visitor.open('/app');
    await shows(page, '$33.00');
    const other = await visitor.context.newPage();
    await visitor.ask('POST', '/v1/auth/logout');
    await openIn(other, '/login');
    await other.getByLabel('Email address').fill('next@example.com');
    await other.keyboard.press('Enter');
    await other.getByLabel('Six-digit code').fill('123456');
    for (const tab of [page, other]) {
      await tab.getByText('next@example.com').waitFor();
      await shows(tab, '$0.00');
    }
    assert.equal(await page.getByText('$33.00').count(), 0);
  });

  it('is missed after a moment, asked around, and welcome back', async () => {
    await visitor.signIn('tunnel@example.com');
    await visitor.context.route('**/v1/events/stream', (route) => route.abort());
    const page = await visitor.open('/app');
    await note(page, 'Reconnecting').waitFor();
    await note(page, 'No live updates').waitFor();
    await fund(visitor, 900);
    await shows(page, '$9.00');
    await page.getByText(/^As of /).waitFor();
    await visitor.context.unroute('**/v1/events/stream');
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await note(page, 'No live updates').waitFor({ state: 'detached' });
    await fund(visitor, 100);
    await shows(page, '$10.00');
    await page.getByText('Ready to spend').waitFor();
  });

  it('notes that the service has cut it, and goes on where it was', async () => {
    await visitor.signIn('crowded@example.com');
    const [page] = await openTabs(1);
    assert.ok(page);
    await shows(page, '$0.00');
    const cookies = await visitor.context.cookies();
    const others: Response[] = [];
    for (let count = 0; count < 10; count += 1) {
      const answer = await fetch(`${lab.mock.url}/v1/events/stream`, {
        headers: { Cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') },
      });
      assert.equal(answer.status, 200);
      others.push(answer);
    }
    await note(page, 'Reconnecting').waitFor();
    // A request's signal may have been collected with the request, and an answer that nobody holds ends by itself.
    await Promise.all(others.map(async ({ body }) => body?.cancel()));
    await fund(visitor, 600);
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await shows(page, '$6.00');
    await note(page, 'Reconnecting').waitFor({ state: 'detached' });
    assert.match(streams.resumedAfter.at(-1) ?? '', /^\d+$/);
  });
});

async function openIn(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await page.getByRole('heading', { level: 1 }).waitFor();
}
