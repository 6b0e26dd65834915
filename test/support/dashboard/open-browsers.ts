/** What runs of a browser, as far as the end of the tests is concerned. */
interface Closable {
  close(): Promise<void>;
}

/** On the global object: the root hooks and the tests may load this file as two modules. */
const place = Symbol.for('gpu-rental.open-browsers');
const holder = globalThis as { [place]?: Set<Closable> | undefined };
const open = (holder[place] ??= new Set());

export function browserStarted(browser: Closable): void {
  open.add(browser);
}

export function browserStopped(browser: Closable): void {
  open.delete(browser);
}

/** Whether a test may have a browser to show what went wrong. */
export function areBrowsersOpen(): boolean {
  return open.size > 0;
}

/** Stops the browsers that a test file left running, as one does whose hook failed. */
export async function stopOpenBrowsers(): Promise<void> {
  const left = [...open];
  open.clear();
  await Promise.all(left.map((browser) => browser.close()));
}
