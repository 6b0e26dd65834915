import type { Browser, BrowserContext } from 'playwright-core';
import { newId } from '../../adapters/ids.js';
import { insertSession } from '../../adapters/postgres/accounts/sessions.js';
import { startChromium } from '../../lab/browser/chromium.js';
import { seedLedger } from '../long-ledger.js';
import { percentile, report, round } from '../report.js';
import { insertRichUser, rent, startBenchStack, type BenchStack } from '../stack.js';
import { behindDatabase, openContext, paint, scroll } from './measure.js';
import { longestOnCore, settled, type Probed } from './page-probe.js';

/**
 * bench:dashboard. A real Chromium on the same cores as the stack that it asks: how soon the home page is there for
 * whoever comes for the first time, turn by turn beside Temporal's UI; the ledger of a long life under the wheel; and
 * how far the shown balance is behind the database.
 */
const rounds = Number(process.env['BENCH_ROUNDS'] ?? '9');
const entries = Number(process.env['BENCH_ENTRIES'] ?? '100000');
const seconds = Number(process.env['BENCH_SECONDS'] ?? '20');
const credits = Number(process.env['BENCH_PAYMENTS'] ?? '12');

async function within<T>(
  browser: Browser,
  bench: BenchStack,
  cookie: string | undefined,
  use: (context: BrowserContext) => Promise<T>,
): Promise<T> {
  const context = await openContext(browser, bench.stack.urls.api, cookie);
  try {
    return await use(context);
  } finally {
    await context.close();
  }
}

function spread(values: readonly number[]): { p50: number; min: number; max: number } {
  return {
    p50: round(percentile(values, 0.5)),
    min: round(Math.min(...values)),
    max: round(Math.max(...values)),
  };
}

const RUNNING_WITHIN_MS = 90_000;

/** Rents a machine and waits until it runs, so that the home page has something to show. */
async function rentOne(bench: BenchStack, cookie: string): Promise<void> {
  const id = await rent(bench, cookie, { familyId: 'rtx-4090', gpuCount: 1 });
  const deadlineMs = performance.now() + RUNNING_WITHIN_MS;
  while (performance.now() < deadlineMs) {
    const response = await fetch(`${bench.stack.urls.api}/v1/rentals/${id}`, { headers: { cookie } });
    const { status } = (await response.json()) as { status: string };
    if (status === 'running') return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`${id} did not run within ${RUNNING_WITHIN_MS} ms`);
}

/** First loads of the home page, and in turn of the list of workflows in Temporal's UI. */
async function measurePaints(browser: Browser, bench: BenchStack) {
  const { api, temporalUi } = bench.stack.urls;
  const { cookie } = await insertRichUser(bench.db, 123_456);
  await rentOne(bench, cookie);
  const ours: Probed[] = [];
  const peers: Probed[] = [];
  // The first turn warms the servers, not the browser, and does not count.
  for (let turn = 0; turn <= rounds; turn += 1) {
    const own = await within(browser, bench, cookie, (context) => paint(context, `${api}/app`));
    const peer = await within(browser, bench, undefined, (context) =>
      paint(context, `${temporalUi ?? ''}/namespaces/default/workflows`),
    );
    if (turn === 0) continue;
    ours.push(own);
    peers.push(peer);
  }
  const paints = (of: readonly Probed[]) => spread(of.map(({ paintMs }) => paintMs));
  return {
    paintMs: paints(ours),
    temporalUiPaintMs: paints(peers),
    layoutShift: round(Math.max(...ours.map(({ shift }) => shift)), 4),
  };
}

/** The amount of a ledger's first entry (long-ledger.ts), and of one in a thousand. */
const OLDEST = '$10,000.00';

async function measureLedger(browser: Browser, bench: BenchStack) {
  const userId = newId('usr');
  await seedLedger(bench.db, userId, entries);
  await bench.db.raw('analyze ledger_entries');
  const { token } = await bench.db.transaction((trx) => insertSession(trx, userId, { by: 'email' }));
  return within(browser, bench, `sid=${token}`, async (context) => {
    const page = await context.newPage();
    await page.goto(`${bench.stack.urls.api}/app/ledger?view=entries`);
    await settled(page, 60_000);
    let tasks: Pick<Probed, 'longTasks' | 'longestTaskMs'> = { longTasks: 0, longestTaskMs: 0 };
    const onCoreMs = await longestOnCore(browser, page, async () => {
      tasks = await scroll(page, seconds, OLDEST);
    });
    const { longTasks, longestTaskMs } = tasks;
    return { entries, longTasks, longestTaskMs: round(longestTaskMs), longestOnCoreMs: round(onCoreMs) };
  });
}

async function measureBalance(browser: Browser, bench: BenchStack) {
  const { userId, cookie } = await insertRichUser(bench.db, 500_000);
  return within(browser, bench, cookie, async (context) => {
    const page = await context.newPage();
    await page.goto(`${bench.stack.urls.api}/app`);
    await settled(page, 60_000);
    const behind: number[] = [];
    for (let no = 1; no <= credits; no += 1) {
      behind.push(await behindDatabase(page, bench.db, userId, no));
      // Credits come at any moment of the stream's second.
      await page.waitForTimeout(Math.random() * 1_000);
    }
    return spread(behind);
  });
}

const bench = await startBenchStack();
const browser = await startChromium();
try {
  const paints = await measurePaints(browser, bench);
  const balanceBehindMs = await measureBalance(browser, bench);
  const ledger = await measureLedger(browser, bench);
  const { paintMs, temporalUiPaintMs } = paints;
  report(
    'dashboard',
    `largest paint ${paintMs.p50} ms (${paintMs.min} to ${paintMs.max}), Temporal's UI ${temporalUiPaintMs.p50} ms; ` +
      `layout shift ${paints.layoutShift}; balance ${balanceBehindMs.p50} ms behind, at most ${balanceBehindMs.max}; ` +
      `${entries} entries scrolled for ${seconds} s: longest task ${ledger.longestTaskMs} ms, longest on a core ` +
      `${ledger.longestOnCoreMs} ms`,
    { rounds, ...paints, balanceBehindMs, ledger },
    [
      {
        id: 'dashboard.paint',
        what: 'largest contentful paint of /app, p50',
        ours: paintMs.p50,
        unit: 'ms',
        peer: { what: "Temporal's UI", value: temporalUiPaintMs.p50 },
      },
      { id: 'dashboard.shift', what: 'layout shift of /app', ours: paints.layoutShift, unit: '' },
      {
        id: 'dashboard.balance',
        what: "from a credit's commit to the page, longest",
        ours: balanceBehindMs.max,
        unit: 'ms',
      },
      {
        id: `dashboard.scroll.${entries}`,
        what: `longest task while ${entries.toLocaleString('en-US')} entries are scrolled`,
        ours: ledger.longestTaskMs,
        unit: 'ms',
      },
    ],
  );
} finally {
  await browser.close();
  await bench.stop();
}
