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
  /** By the options of their visitors. */
  readonly #leftPages = new Map<string, LeftPages>();

  private constructor(mock: MockServer) {
    this.mock = mock;
  }

  static async start(options: Partial<MockOptions> = {}): Promise<DashboardLab> {
    const dashboardFolder = options.dashboardFolder ?? (await buildDashboard());
    return new DashboardLab(await startMock({ port: 0, ...options, dashboardFolder }));
  }

  /** A browser of somebody: its cookies are its own. It may be one that another visitor with the same options left. */
  async visit(options: VisitOptions = {}): Promise<Visitor> {
    const key = JSON.stringify(options);
    const pages = this.#leftPages.get(key) ?? new LeftPages(this.mock.url);
    this.#leftPages.set(key, pages);
    const { context, page } = pages.take() ?? (await this.#open(pages, options));
    const visitor = new Visitor(context, page, (left) => pages.leave(left));
    this.#visitors.push(visitor);
    return visitor;
  }

  async #open(pages: LeftPages, options: VisitOptions): Promise<Pick<Visitor, 'context' | 'page'>> {
    const context = await newContext(this.mock.url, options);
    const opened = { context, page: await context.newPage() };
    pages.watch(opened);
    return opened;
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
