import type { Page } from 'playwright-core';
import { until } from '../until.js';
import type { Visitor } from './visitor.js';

/** What the mock says of a top-up. */
export interface ShownTopup {
  readonly id: string;
  readonly status: string;
  readonly amountCents: number;
  readonly checkoutUrl: string | null;
}

/** The money of somebody who visits, as the API tells it and moves it. */
export class Purse {
  readonly #visitor: Visitor;

  constructor(visitor: Visitor) {
    this.#visitor = visitor;
  }

  async topups(): Promise<readonly ShownTopup[]> {
    const path = '/v1/billing/topups?pageSize=200';
    return (await this.#visitor.ask<{ topups: ShownTopup[] }>('GET', path)).topups;
  }

  async topup(id: string): Promise<ShownTopup> {
    return this.#visitor.ask('GET', `/v1/billing/topups/${id}`);
  }

  /** Opens a payment page, or charges the saved card. */
  async checkout(amountCents: number): Promise<{ topupId: string; checkoutUrl: string | null }> {
    return this.#visitor.ask('POST', '/v1/billing/checkout', { data: { amountCents } });
  }

  /** Pays on a payment page, as somebody on another device. */
  async payOn(checkoutUrl: string | null): Promise<void> {
    await this.#visitor.context.request.get(checkoutUrl ?? '', { failOnStatusCode: true, maxRedirects: 0 });
  }

  /** Pays in by a payment page. */
  async pay(amountCents: number): Promise<void> {
    await this.payOn((await this.checkout(amountCents)).checkoutUrl);
  }

  /** Saves a card, and waits until it is there. */
  async saveCard(bank: 'pays' | 'declines' = 'pays'): Promise<void> {
    await this.#visitor.ask('POST', '/v1/billing/setup-intent', { headers: { 'x-mock-card': bank } });
    await until('the card is saved', async () => {
      const { pmId } = await this.#visitor.ask<{ pmId: string | null }>('GET', '/v1/billing/card');
      return pmId !== null;
    });
  }

  async saveAutoTopup(settings: object): Promise<void> {
    await this.#visitor.ask('PUT', '/v1/billing/auto-topup', { data: settings });
  }

  /** Issues an invoice that is owed. */
  async owe(amountCents: number, description: string): Promise<string> {
    const data = { amountCents, description };
    return (await this.#visitor.ask<{ id: string }>('POST', '/mock/invoices', { data })).id;
  }
}

/** Has the page's requests of a method and a path answered by a body that the mock would not give. */
export async function answerWith(page: Page, method: string, path: string, body: object): Promise<void> {
  await page.route(
    (url) => url.pathname === path,
    (route, request) => (request.method() === method ? route.fulfill({ json: body }) : route.fallback()),
  );
}

/** Counts the page's requests of a method and a path, and their idempotency keys. */
export function watchRequests(
  page: Page,
  method: string,
  path: string,
): { readonly keys: (string | undefined)[] } {
  const keys: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (request.method() === method && new URL(request.url()).pathname === path) {
      keys.push(request.headers()['idempotency-key']);
    }
  });
  return { keys };
}
