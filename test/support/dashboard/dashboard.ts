import type { BrowserContext, BrowserContextOptions } from 'playwright-core';
import { startMock, type MockOptions, type MockServer } from '../../../lab/mock/server.js';
import { buildDashboard } from './built.js';
import { LeftPages } from './left-pages.js';
import { openBrowser } from './open-browsers.js';
import { Visitor } from './visitor.js';

export { Visitor } from './visitor.js';

/** How somebody visits. */
export interface VisitOptions extends BrowserContextOptions {
  /** The page came as by https, with all that browsers let only such pages do. */
  readonly isSecure?: true;
}

/** The dashboard in a browser, as the mock serves it. One serves a whole test file. */
export class DashboardLab {
  readonly mock: MockServer;
  readonly #visitors: Visitor[] = [];
  readonly #leftPages: LeftPages;

  private constructor(mock: MockServer) {
    this.mock = mock;
    this.#leftPages = new LeftPages(mock.url);
  }

  static async start(options: Partial<MockOptions> = {}): Promise<DashboardLab> {
    const dashboardFolder = options.dashboardFolder ?? (await buildDashboard());
    return new DashboardLab(await startMock({ port: 0, ...options, dashboardFolder }));
  }

  /** A browser of somebody: its cookies are its own. Without options it may be one that another visitor left. */
  async visit(options?: VisitOptions): Promise<Visitor> {
    const visitor = options ? await visit(this.mock.url, options) : await this.#visitAgain();
    this.#visitors.push(visitor);
    return visitor;
  }

  async #visitAgain(): Promise<Visitor> {
    const left = this.#leftPages.take();
    const leave = (visitor: Visitor): Promise<void> => this.#leftPages.leave(visitor);
    if (left) return new Visitor(left.context, left.page, leave);
    const context = await newContext(this.mock.url);
    const page = await context.newPage();
    this.#leftPages.watch({ context, page });
    return new Visitor(context, page, leave);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#visitors.map((visitor) => visitor.end()));
    await this.mock.stop();
  }
}

/** Lets somebody visit the dashboard at an origin, with cookies of their own. */
export async function visit(origin: string, options: VisitOptions = {}): Promise<Visitor> {
  const context = await newContext(origin, options);
  return new Visitor(context, await context.newPage());
}

async function newContext(
  origin: string,
  { isSecure, ...options }: VisitOptions = {},
): Promise<BrowserContext> {
  const browser = await openBrowser();
  const context = await browser.newContext({
    baseURL: origin,
    locale: 'en-US',
    timezoneId: 'UTC',
    viewport: { width: 1_280, height: 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  });
  // Pages that came by plain http have none of these, and must do without them.
  if (isSecure !== true) {
    await context.addInitScript({
      content: 'delete Crypto.prototype.randomUUID; delete Crypto.prototype.subtle;',
    });
  }
  // Only a failing test waits this long.
  context.setDefaultTimeout(30_000);
  return context;
}
