import type { ConsoleMessage, Page, Request, Response } from 'playwright-core';

/** Chromium's own line about an answer that is no success: `refusals` has it with its path. */
const FAILED_LOAD = /^Failed to load resource: the server responded with a status of (\d{3})/;
/** What a policy has blocked is written by Chromium under this source, too. */
const POLICY = /Content Security Policy|TrustedHTML|TrustedScript/;

/** Watches a page from its beginning: what it writes to its console, and what it asks for and where. */
export class Watch {
  readonly console: string[] = [];
  readonly complaints: string[] = [];
  readonly outside: string[] = [];
  readonly refusals: string[] = [];
  readonly #underWay = new Set<Request>();

  constructor(page: Page) {
    page.on('pageerror', (error) => this.complaints.push(`error: ${error.message}`));
    page.on('console', (message) => this.#read(message));
    page.on('request', (request) => this.#see(page, request));
    page.on('response', (response) => this.#judge(response));
    page.on('requestfinished', (request) => this.#underWay.delete(request));
    page.on('requestfailed', (request) => this.#underWay.delete(request));
  }

  /** Whether the page waits for an answer; its stream of events stays open. */
  get isWaiting(): boolean {
    return [...this.#underWay].some((request) => new URL(request.url()).pathname !== '/v1/events/stream');
  }

  #read(message: ConsoleMessage): void {
    const [type, text] = [message.type(), message.text()];
    this.console.push(`${type}: ${text}`);
    const status = FAILED_LOAD.exec(text)?.[1];
    if (status !== undefined) return;
    if (type === 'error' || type === 'warning' || POLICY.test(text))
      this.complaints.push(`console: ${type === 'warning' ? 'warning: ' : ''}${text}`);
  }

  #see(page: Page, request: Request): void {
    this.#underWay.add(request);
    const url = new URL(request.url());
    if (url.protocol === 'data:' || url.protocol === 'blob:') return;
    // A link that leads elsewhere is the user's own step.
    const isStep = request.isNavigationRequest() && request.frame() === page.mainFrame();
    if (!isStep && url.origin !== new URL(page.url()).origin && page.url() !== 'about:blank')
      this.outside.push(request.url());
  }

  #judge(response: Response): void {
    const request = response.request();
    if (response.status() < 400 || request.headers()['x-mock-failure'] !== undefined) return;
    this.refusals.push(`${response.status()} ${request.method()} ${new URL(response.url()).pathname}`);
  }
}
