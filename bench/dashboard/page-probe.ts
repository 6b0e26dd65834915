import type { Browser, BrowserContext, Page } from 'playwright-core';

/**
 * Runs in each page before its own scripts. It keeps what the browser measures, and when a text came to stand on the
 * page.
 */
const probe = `
  const probe = (window.__probe = { paintMs: 0, shift: 0, longestTaskMs: 0, longTasks: 0 });
  const watch = (type, take) =>
    new PerformanceObserver((list) => list.getEntries().forEach(take)).observe({ type, buffered: true });
  watch('largest-contentful-paint', (entry) => { probe.paintMs = entry.startTime; });
  watch('layout-shift', (entry) => { if (!entry.hadRecentInput) probe.shift += entry.value; });
  watch('longtask', (entry) => {
    probe.longTasks += 1;
    probe.longestTaskMs = Math.max(probe.longestTaskMs, entry.duration);
  });
  window.__seenAt = (text) => new Promise((resolve) => {
    const look = () => {
      if (!document.body.textContent.includes(text)) return false;
      resolve(Date.now());
      return true;
    };
    if (look()) return;
    const observer = new MutationObserver(() => { if (look()) observer.disconnect(); });
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  });
`;

/** What the browser measured of a page so far. */
export interface Probed {
  /** The largest contentful paint, since the navigation began. */
  readonly paintMs: number;
  /** The sum of all layout shifts that no input caused. */
  readonly shift: number;
  readonly longTasks: number;
  readonly longestTaskMs: number;
}

/** The paint counts as the last one after this long without a larger one. */
const SETTLED_MS = 1_500;
const LOOK_EVERY_MS = 100;

export async function installProbe(context: BrowserContext): Promise<void> {
  await context.addInitScript({ content: probe });
}

export function readProbe(page: Page): Promise<Probed> {
  return page.evaluate('window.__probe');
}

/** Forgets the tasks of before, such as those of the load. */
export async function forgetTasks(page: Page): Promise<void> {
  await page.evaluate('window.__probe.longTasks = window.__probe.longestTaskMs = 0');
}

/** Waits until no larger paint comes. */
export async function settled(page: Page, withinMs: number): Promise<Probed> {
  const deadlineMs = performance.now() + withinMs;
  let last = await readProbe(page);
  let sinceMs = performance.now();
  while (performance.now() < deadlineMs) {
    await page.waitForTimeout(LOOK_EVERY_MS);
    const now = await readProbe(page);
    if (now.paintMs !== last.paintMs) sinceMs = performance.now();
    last = now;
    if (now.paintMs > 0 && performance.now() - sinceMs >= SETTLED_MS) return now;
  }
  throw new Error(`${page.url()} did not come to rest within ${withinMs} ms`);
}

/**
 * Waits for a text anywhere on the page.
 * @returns when it stood there, in milliseconds since the epoch
 */
export async function seenAt(page: Page, text: string, withinMs: number): Promise<number> {
  const late = new Promise<never>((_resolve, reject) => {
    const error = new Error(`${page.url()} did not show ${text} within ${withinMs} ms`);
    setTimeout(() => reject(error), withinMs).unref();
  });
  return Promise.race([page.evaluate<number>(`window.__seenAt(${JSON.stringify(text)})`), late]);
}

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** The time of the thread on a core, in microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * Traces a page meanwhile. On a machine that others use too, a task's time says how long it waited for a core; this
 * says how long it had one.
 * @returns the time on a core of the longest task of any page's main thread, in milliseconds
 */
export async function longestOnCore(
  browser: Browser,
  page: Page,
  meanwhile: () => Promise<void>,
): Promise<number> {
  await browser.startTracing(page, { categories: ['toplevel'] });
  await meanwhile();
  const trace = await browser.stopTracing();
  const { traceEvents } = JSON.parse(trace.toString('utf8')) as {
    readonly traceEvents: readonly TraceEvent[];
  };
  const threadOf = ({ pid, tid }: TraceEvent): string => `${pid}:${tid}`;
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(threadOf),
  );
  const onCore = traceEvents.filter((event) => mains.has(threadOf(event))).map(({ tdur = 0 }) => tdur);
  if (onCore.length === 0) throw new Error('the trace has no task of a page');
  return onCore.reduce((longest, each) => Math.max(longest, each), 0) / 1_000;
}
