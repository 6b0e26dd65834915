import type { Browser, Page } from 'playwright-core';
import { startChromium } from '../../lab/browser/chromium.js';
import { liveThrough, livedMs } from '../../lab/mock/lived/ada.js';
import { startMock, type MockServer } from '../../lab/mock/server.js';
import { SteeredClock } from '../../lab/mock/steered-clock.js';
import { medianOf, medianOfTurns } from '../median.js';
import { report, round } from '../report.js';
import { openContext, paint } from './measure.js';

/**
 * bench:paints. Another build of the dashboard beside this one, turn by turn: the largest contentful paint on a
 * slow line with a cold cache. Each has a mock of its own in this process, with the same story in it.
 *   PEER_BUILD=../0.2/dist/dashboard npm run bench:paints
 */
const turns = Number(process.env['BENCH_ROUNDS'] ?? '15');
const peerFolder = process.env['PEER_BUILD'] ?? '';
const ownFolder = 'dist/dashboard';

/** A phone's line, as browsers' tools have it: 150 ms to the service and back, 1.6 Mbit/s down, 750 kbit/s up. */
const line = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };

interface Served {
  readonly mock: MockServer;
  readonly cookie: string;
  readonly rentalId: string;
  stop(): Promise<void>;
}

async function serve(dashboardFolder: string): Promise<Served> {
  const clock = new SteeredClock(Date.now() - livedMs);
  const mock = await startMock({ port: 0, clock, dashboardFolder });
  const { email, runningId: rentalId } = await liveThrough(mock, clock);
  const halt = clock.letGo();
  const answer = await fetch(`${mock.url}/v1/auth/verify-code`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, code: '123456' }),
  });
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  return {
    ...{ mock, cookie, rentalId },
    async stop() {
      halt();
      await mock.stop();
    },
  };
}

interface Opened {
  readonly name: string;
  readonly path: (served: Served) => string;
  readonly isSignedIn: boolean;
}

const pages: readonly Opened[] = [
  { name: 'sign-in', path: () => '/login', isSignedIn: false },
  { name: 'overview', path: () => '/app', isSignedIn: true },
  { name: 'rental', path: ({ rentalId }) => `/app/rentals/${rentalId}`, isSignedIn: true },
];

async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', line);
}

async function paintOf(browser: Browser, served: Served, opened: Opened): Promise<number> {
  const { mock, cookie } = served;
  const context = await openContext(browser, mock.url, opened.isSignedIn ? cookie : undefined);
  // Whoever has signed in before comes with this, too; the rest of the browser is empty.
  if (opened.isSignedIn) await context.addInitScript({ content: `localStorage.setItem('signed-in', '1')` });
  try {
    return (await paint(context, `${mock.url}${opened.path(served)}`, slowDown)).paintMs;
  } finally {
    await context.close();
  }
}

/** Ours and the peer's in turn, which of them goes first changing from turn to turn. */
async function measure(browser: Browser, own: Served, peer: Served, opened: Opened) {
  const ours: number[] = [];
  const peers: number[] = [];
  // The first turn warms the mocks, not the browser, and does not count.
  for (let turn = 0; turn <= turns; turn += 1) {
    const both = turn % 2 === 0 ? [own, peer] : [peer, own];
    for (const served of both) {
      const paintMs = await paintOf(browser, served, opened);
      if (turn > 0) (served === own ? ours : peers).push(paintMs);
    }
  }
  const ratio = medianOfTurns(ours.map((paintMs, turn) => paintMs / (peers[turn] ?? Number.NaN)));
  return {
    page: opened.name,
    oursMs: round(medianOf(ours)),
    peerMs: round(medianOf(peers)),
    ratio: round(ratio.median, 3),
    low: round(ratio.low, 3),
    high: round(ratio.high, 3),
  };
}

if (peerFolder === '')
  throw new Error('PEER_BUILD must name the folder of the other build, such as dist/dashboard.');
const [own, peer] = await Promise.all([serve(ownFolder), serve(peerFolder)]);
const browser = await startChromium();
try {
  const measured = [];
  for (const opened of pages) measured.push(await measure(browser, own, peer, opened));
  const told = measured.map(
    ({ page, oursMs, peerMs, ratio, low, high }) =>
      `${page} ${oursMs} ms, the peer ${peerMs} ms: ${ratio} of it (${low} to ${high})`,
  );
  report(
    'paints',
    told.join('; '),
    { turns, line, measured },
    measured.map(({ page, oursMs, peerMs }) => ({
      id: `dashboard.pair.${page}`,
      what: `largest contentful paint of ${page} on a slow line`,
      ours: oursMs,
      unit: 'ms',
      peer: { what: 'the other build', value: peerMs },
    })),
  );
} finally {
  await browser.close();
  await Promise.all([own.stop(), peer.stop()]);
}
