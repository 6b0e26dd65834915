import type { Browser } from 'playwright-core';

/** Whether the pages of a context share a process, or each tab has its own. */
type Tabs = 'together' | 'apart';

/** On the global object: the root hooks and the tests may load this file as two modules. */
const place = Symbol.for('gpu-rental.open-browsers');
const holder = globalThis as { [place]?: Map<Tabs, Promise<Browser>> };
const browsers = (holder[place] ??= new Map<Tabs, Promise<Browser>>());

const flags: Readonly<Record<Tabs, readonly string[]>> = {
  // The process lives on from one document to the next, about:blank too: a new one for each compiles the dashboard anew.
  // Contexts never share one.
  together: ['--disable-site-isolation-trials', '--renderer-process-limit=1'],
  apart: [],
};

/** The one browser of this process for each kind. Whoever visits has cookies of their own, so all test files share it. */
export async function openBrowser(tabs: Tabs): Promise<Browser> {
  const before = await browsers.get(tabs);
  if (before?.isConnected() === true) return before;
  const { startChromium } = await import('../../../lab/browser/chromium.js');
  // Names that no resolver knows (RFC 6761) lead here: pages on them are plain http without a secure context.
  const started = startChromium(['--host-resolver-rules=MAP *.test 127.0.0.1', ...flags[tabs]]);
  browsers.set(tabs, started);
  return started;
}

/** Whether a test may have a browser to show what went wrong. */
export function isBrowserOpen(): boolean {
  return browsers.size > 0;
}

/** Closes what a test file left open, as one does whose hook failed. */
export async function closeVisits(): Promise<void> {
  const open = await Promise.all(browsers.values());
  await Promise.all(open.flatMap((browser) => browser.contexts()).map((context) => context.close()));
}

/** Stops the browsers, which would keep this process from ending. */
export async function stopBrowser(): Promise<void> {
  const open = [...browsers.values()];
  browsers.clear();
  for (const browser of open) await (await browser).close();
}
