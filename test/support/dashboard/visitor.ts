import type { BrowserContext, Page } from 'playwright-core';
import { until } from '../until.js';
import { pageClosed, pageOpened } from './evidence.js';
import { Watch } from './watch.js';

/** Somebody at a browser. */
export class Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly #watch: Watch;
  readonly #leave: (visitor: Visitor) => Promise<void>;
  #isGone = false;

  /** @param leave what becomes of the browser once its visitor has left; it is closed unless told */
  constructor(context: BrowserContext, page: Page, leave = ({ context: left }: Visitor) => left.close()) {
    this.context = context;
    this.page = page;
    this.#leave = leave;
    this.#watch = new Watch(page);
    pageOpened(this);
  }

  /** What the page complained about: errors and warnings of scripts, and what its policy has blocked. */
  get complaints(): string[] {
    return this.#watch.complaints;
  }

  /** Each line that the page has written to its console. */
  get console(): readonly string[] {
    return this.#watch.console;
  }

  /** What the page asked for elsewhere than at its own origin. */
  get outside(): string[] {
    return this.#watch.outside;
  }

  /** The service's refusals that no test asked for by `fail`. */
  get refusals(): string[] {
    return this.#watch.refusals;
  }

  /** Signs in by the API, as any address: the mock takes any six digits. */
  async signIn(email = 'ada@example.com'): Promise<this> {
    await this.ask('POST', '/v1/auth/request-code', { data: { email } });
    await this.ask('POST', '/v1/auth/verify-code', { data: { email, code: '123456' } });
    return this;
  }

  /**
   * Asks the service as the browser would, beside the page.
   * @returns the body of the answer, if it has one
   * @throws with the service's words where it refuses
   */
  async ask<Answer>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    options: { readonly data?: object; readonly headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const answer = await this.context.request.fetch(path, { ...options, method });
    if (!answer.ok()) throw new Error(`${method} ${path}: ${answer.status()} ${await answer.text()}`);
    return (answer.status() === 204 ? undefined : await answer.json()) as Answer;
  }

  /** Signs in as somebody else, or again: the page of the session that ends is left first, since it would lead away. */
  async signInAnew(email: string): Promise<this> {
    await this.page.goto('about:blank');
    return this.signIn(email);
  }

  /** Opens a path, and waits for the page's heading. */
  async open(path: string): Promise<Page> {
    await this.page.goto(path);
    await this.page.getByRole('heading', { level: 1 }).waitFor();
    return this.page;
  }

  /** Waits until all that the page has asked for is there and shown. */
  async settle(): Promise<Page> {
    // Behind a dialog the heading has no role.
    await this.page.locator('h1').first().waitFor();
    let calmLooks = 0;
    await until('the page has all it asked for', async () => {
      const isComing =
        this.#watch.isWaiting || (await this.page.locator('.animate-pulse:visible').count()) > 0;
      calmLooks = isComing ? 0 : calmLooks + 1;
      return calmLooks > 2;
    });
    return this.page;
  }

  /** Has one request of the page fail as the mock can: `fail('POST', '/v1/rentals', 'insufficient_balance')`. */
  async fail(method: string, path: string, code: string): Promise<void> {
    await this.page.route(
      (url) => url.pathname === path,
      (route, request) =>
        request.method() === method
          ? route.continue({ headers: { ...request.headers(), 'x-mock-failure': code } })
          : route.fallback(),
    );
  }

  /** Leaves the browser, which another visitor may take over. */
  async close(): Promise<void> {
    if (this.#isGone) return;
    this.#isGone = true;
    pageClosed(this);
    await this.#leave(this);
  }

  /** Closes the browser for good. */
  async end(): Promise<void> {
    this.#isGone = true;
    pageClosed(this);
    await this.context.close();
  }
}
