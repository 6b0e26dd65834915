import type { MockServer } from '../../../../lab/mock/server.js';
import { until } from '../../../support/until.js';
import { ApiClient } from '../../../support/http/api.js';
import { GpuUser, type Ran, type RunOptions } from './gpu.js';

/** What somebody types who is asked for a mailed code. */
export const mailedCode = { 'Six-digit code': '123456' };

let people = 0;

/** Somebody who is signed in at the mock, by an API key as `gpu login` makes it. */
export class Person extends GpuUser {
  private constructor(
    url: string,
    readonly email: string,
    apiKey: string,
    /** Their session, for what happens elsewhere: in a browser, say. */
    readonly elsewhere: ApiClient,
  ) {
    super(url, apiKey);
  }

  static async at({ url }: Pick<MockServer, 'url'>): Promise<Person> {
    people += 1;
    const email = `cli${people}@example.com`;
    const session = new ApiClient(url);
    await session.post('/v1/auth/verify-code', { email, code: '123456' });
    const asked = { name: 'test', scopes: ['read', 'rentals', 'billing'] };
    const made = (await session.post('/v1/api-keys', asked)).body as unknown as { key: string };
    return new Person(url, email, made.key, session);
  }

  /** Puts money into the wallet, on the page of a checkout. */
  async pay(dollars: number): Promise<void> {
    const { body } = await this.elsewhere.post('/v1/billing/checkout', { amountCents: dollars * 100 });
    await fetch(body.checkoutUrl, { redirect: 'manual' });
    await until(
      'the money is there',
      async () => (await this.elsewhere.get('/v1/billing/balance')).body.availableCents >= dollars * 100,
    );
  }

  /** Runs a line, and types the mailed code that it asks for. */
  withCode(line: string, options?: RunOptions): Promise<Ran> {
    return this.type(line, { types: mailedCode, ...options });
  }

  /** Rents the cheapest machine of a family. @returns its id */
  async rent(more = 'rtx-4090', options?: RunOptions): Promise<string> {
    const ran: Ran = await this.type(`rent ${more} --yes --json`, options);
    if (ran.code !== 0) throw new Error(`gpu rent: ${ran.code}\n${ran.err}`);
    return (JSON.parse(ran.out) as { id: string }).id;
  }
}
