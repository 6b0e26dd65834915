import { GpuRental } from '@gpu-rental/client';
import { MINUTE, SECOND } from '../../../domain/durations.js';
import type { RentalFate } from '../account.js';
import { cardHeader, rentalHeader } from '../on-demand.js';
import type { MockServer } from '../server.js';
import type { SteeredClock } from '../steered-clock.js';

/** Somebody who uses the mock while a steered clock passes. */
export class Person {
  readonly api: GpuRental;
  #headers: Readonly<Record<string, string>> = {};

  constructor(
    private readonly mock: Pick<MockServer, 'url' | 'tick'>,
    private readonly clock: SteeredClock,
    readonly email: string,
    userAgent: string,
  ) {
    this.api = new GpuRental({
      baseUrl: mock.url,
      userAgent,
      retries: 0,
      fetch: (request) => {
        for (const [name, value] of Object.entries(this.#headers)) request.headers.set(name, value);
        return fetch(request);
      },
    });
  }

  async signIn(): Promise<this> {
    await this.api.auth.requestCode({ email: this.email });
    await this.api.auth.verifyCode({ email: this.email, code: '123456' });
    return this;
  }

  /** Shows anew who they are, for what asks for it. */
  async prove(): Promise<void> {
    await this.api.auth.refreshProof({ code: '123456' });
  }

  /** Lets time pass; the meters tick as often as told. */
  pass(ms: number, tickEveryMs = 5 * MINUTE): void {
    for (let leftMs = ms; leftMs > 0; leftMs -= tickEveryMs) {
      this.clock.advance(Math.min(leftMs, tickEveryMs));
      this.mock.tick();
    }
  }

  /** Pays at the processor's page. */
  async payOnPage(amountCents: number): Promise<void> {
    const { checkoutUrl } = await this.api.checkout.create({ amountCents });
    if (checkoutUrl === null) throw new Error('the saved card was charged instead');
    await fetch(checkoutUrl, { redirect: 'manual' });
  }

  async payInvoice(id: string): Promise<void> {
    const { url } = await this.api.invoices.payUrl(id);
    if (url !== null) await fetch(`${url}/pay`, { method: 'POST', redirect: 'manual' });
  }

  /** Saves a card in place of the one before. */
  async saveCard(fate: 'pays' | 'declines'): Promise<void> {
    await this.#with({ [cardHeader]: fate }, () => this.api.card.setUp());
    this.pass(MINUTE, MINUTE);
  }

  /** Rents, and waits until the machine runs, or has failed. @returns the rental's id */
  async rent(
    body: Parameters<GpuRental['quotes']['create']>[0],
    fate: RentalFate = 'runs',
    waitMs = 5 * SECOND,
  ): Promise<string> {
    const { id } = await this.#with({ [rentalHeader]: fate }, () => this.api.rentals.create(body));
    this.pass(waitMs, SECOND);
    return id;
  }

  async stop(rentalId: string): Promise<void> {
    await this.api.rentals.stop(rentalId);
    this.pass(5 * SECOND, SECOND);
  }

  /** Lets a program rent by an API key, and stop again. */
  async rentByKey(apiKey: string): Promise<void> {
    const program = new GpuRental({ baseUrl: this.mock.url, apiKey, retries: 0 });
    const { id } = await program.rentals.create({ familyId: 'l40s', gpuCount: 1, name: 'nightly tests' });
    this.pass(95 * MINUTE);
    await program.rentals.stop(id);
    this.pass(5 * SECOND, SECOND);
  }

  async #with<T>(headers: Readonly<Record<string, string>>, act: () => Promise<T>): Promise<T> {
    this.#headers = headers;
    try {
      return await act();
    } finally {
      this.#headers = {};
    }
  }
}
