import type { Browser } from 'playwright-core';

/** On the global object: the root hooks and the tests may load this file as two modules. */
const place = Symbol.for('gpu-rental.open-browser');
const holder = globalThis as { [place]?: Promise<Browser> | undefined };

/** The one browser of this process. Whoever visits has cookies of their own, so all test files share it. */
export async function openBrowser(): Promise<Browser> {
  const before = await holder[place];
  if (before?.isConnected() !== true) {
    const { startChromium } = await import('../../../lab/browser/chromium.js');
    // Names that no resolver knows (RFC 6761) lead here: pages on them are plain http without a secure context.
    holder[place] = startChromium(['--host-resolver-rules=MAP *.test 127.0.0.1']);
  }
  return holder[place]!;
}

/** Whether a test may have a browser to show what went wrong. */
export function isBrowserOpen(): boolean {
  return holder[place] !== undefined;
}

/** Closes what a test file left open, as one does whose hook failed. */
export async function closeVisits(): Promise<void> {
  const browser = await holder[place];
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
}

/** Stops the browser, which would keep this process from ending. */
export async function stopBrowser(): Promise<void> {
  const browser = await holder[place];
  holder[place] = undefined;
  await browser?.close();
}
