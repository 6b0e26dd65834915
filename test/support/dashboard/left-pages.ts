import type { BrowserContext, Page } from 'playwright-core';

/** What a context or page keeps until its end, once it is called. */
const lasting = [
  'addInitScript',
  'emulateMedia',
  'exposeBinding',
  'exposeFunction',
  'newCDPSession',
  'setExtraHTTPHeaders',
  'setOffline',
  'setViewportSize',
] as const;

/** What tests listen to. Playwright listens to a page's end itself. */
const heard = [
  ...['console', 'dialog', 'download', 'load', 'pageerror', 'popup'],
  ...['request', 'requestfailed', 'requestfinished', 'response'],
];

interface Left {
  readonly context: BrowserContext;
  readonly page: Page;
}

/**
 * The pages that visitors of one origin have left, for the next ones: a page whose process has run the dashboard before
 * takes a third of the processor time of a new one.
 */
export class LeftPages {
  readonly #origin: string;
  readonly #left: Left[] = [];
  readonly #spent = new WeakSet<BrowserContext>();

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** A page that somebody has left, if there is one. */
  take(): Left | undefined {
    return this.#left.pop();
  }

  /** Notes whether something lasting is done to a page from now on: it is closed then, and nobody takes it over. */
  watch({ context, page }: Left): void {
    const spend = (): unknown => this.#spent.add(context);
    for (const target of [context, page]) {
      for (const name of lasting) if (name in target) before(target, name as never, spend);
      before(target.clock, 'install', spend);
    }
  }

  /** Keeps a page for the next visitor with nothing of this one; one that can’t be cleaned is closed. */
  async leave(visitor: Left): Promise<void> {
    const { context, page } = visitor;
    if (this.#spent.has(context) || page.isClosed()) return context.close();
    try {
      await this.#clean(visitor);
    } catch {
      // The page may lead elsewhere itself just now.
      return context.close();
    }
    this.#left.push(visitor);
  }

  async #clean({ context, page }: Left): Promise<void> {
    for (const other of context.pages()) if (other !== page) await other.close();
    for (const event of heard) page.removeAllListeners(event);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    await context.clearCookies();
    // A document without a script: nothing writes any more.
    await page.goto(`${this.#origin}/healthz`);
    await page.evaluate('localStorage.clear(); sessionStorage.clear()');
    await page.mouse.move(-1, -1);
  }
}

/** Calls `note` before each call of a method. */
function before<Target extends object>(target: Target, name: keyof Target, note: () => unknown): void {
  const method = Reflect.get(target, name) as (...args: unknown[]) => unknown;
  Reflect.set(target, name, (...args: unknown[]) => {
    note();
    return method.apply(target, args);
  });
}
