import type { Browser, BrowserContextOptions } from 'playwright-core';
import { startChromium } from '../../../lab/browser/chromium.js';
import { startMock, type MockOptions, type MockServer } from '../../../lab/mock/server.js';
import { buildDashboard } from './built.js';
import { browserStarted, browserStopped } from './open-browsers.js';
import { Visitor } from './visitor.js';

export { Visitor } from './visitor.js';

/** The dashboard in a browser, as the mock serves it. One serves a whole test file. */
export class DashboardLab {
  readonly mock: MockServer;
  readonly browser: Browser;

  private constructor(mock: MockServer, browser: Browser) {
    this.mock = mock;
    this.browser = browser;
  }

  static async start(options: Partial<MockOptions> = {}): Promise<DashboardLab> {
    const browser = await startBrowser();
    const dashboardFolder = await buildDashboard();
    return new DashboardLab(await startMock({ port: 0, dashboardFolder, ...options }), browser);
  }

  /** A browser of somebody: its cookies are its own. */
  visit(options: BrowserContextOptions = {}): Promise<Visitor> {
    return visit(this.browser, this.mock.url, options);
  }

  async stop(): Promise<void> {
    await stopBrowser(this.browser);
    await this.mock.stop();
  }
}

/** Starts a browser that the run's end stops, whatever becomes of the test. */
export async function startBrowser(): Promise<Browser> {
  const browser = await startChromium();
  browserStarted(browser);
  return browser;
}

export async function stopBrowser(browser: Browser): Promise<void> {
  browserStopped(browser);
  await browser.close();
}

/** Lets somebody visit the dashboard at an origin, with cookies of their own. */
export async function visit(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    baseURL: origin,
    locale: 'en-US',
    timezoneId: 'UTC',
    viewport: { width: 1_280, height: 800 },
    permissions: ['clipboard-read', 'clipboard-write'],
    ...options,
  });
  // Only a failing test waits this long.
  context.setDefaultTimeout(30_000);
  return new Visitor(context, await context.newPage());
}
