import type { Rental } from '@gpu-rental/client';
import ssh2 from 'ssh2';
import { until } from '../until.js';
import { Purse } from './paying.js';
import type { Visitor } from './visitor.js';

/** Somebody who rents machines, as the API sees them. */
export class Renter {
  readonly #visitor: Visitor;

  private constructor(visitor: Visitor) {
    this.#visitor = visitor;
  }

  /** Signs in somebody new, with money and an SSH key unless told otherwise. */
  static async signIn(visitor: Visitor, { cents = 10_000, hasKey = true } = {}): Promise<Renter> {
    await visitor.signIn(`renter-${crypto.randomUUID()}@example.com`);
    const renter = new Renter(visitor);
    if (cents > 0) await renter.pay(cents);
    if (hasKey) await renter.addKey('laptop');
    return renter;
  }

  async pay(cents: number): Promise<void> {
    const purse = new Purse(this.#visitor);
    const { checkoutUrl } = await purse.checkout(cents);
    await purse.payOn(checkoutUrl);
  }

  async addKey(name: string): Promise<void> {
    const { public: publicKey } = ssh2.utils.generateKeyPairSync('ed25519');
    await this.#visitor.context.request.post('/v1/ssh-keys', { data: { name, publicKey } });
  }

  /** Rents by the API. */
  async rent(fields: object = {}, fate: 'runs' | 'fails' | 'is_lost' = 'runs'): Promise<string> {
    const answer = await this.#visitor.context.request.post('/v1/rentals', {
      data: { familyId: 'rtx-4090', gpuCount: 1, ...fields },
      headers: { 'x-mock-rental': fate },
    });
    if (!answer.ok()) throw new Error(await answer.text());
    return ((await answer.json()) as { id: string }).id;
  }

  async rental(id: string): Promise<Rental> {
    return (await (await this.#visitor.context.request.get(`/v1/rentals/${id}`)).json()) as Rental;
  }

  async rentals(): Promise<readonly Rental[]> {
    const answer = await this.#visitor.context.request.get('/v1/rentals?pageSize=200');
    return ((await answer.json()) as { rentals: Rental[] }).rentals;
  }

  async stop(id: string): Promise<void> {
    await this.#visitor.context.request.post(`/v1/rentals/${id}/stop`);
  }

  /** Waits until a rental has a state. */
  reaches(id: string, status: Rental['status']): Promise<Rental> {
    return until(`${id} is ${status}`, async () => {
      const rental = await this.rental(id);
      return rental.status === status && rental;
    });
  }
}
