import type { Rental } from '@gpu-rental/client';
import { newSshKeyPair } from '../ssh-key-pair.js';
import { until } from '../until.js';
import { Purse } from './paying.js';
import type { Visitor } from './visitor.js';

/** Somebody who rents machines, as the API sees them. */
export class Renter {
  readonly #visitor: Visitor;

  /** @param visitor signed in already */
  constructor(visitor: Visitor) {
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
    await new Purse(this.#visitor).pay(cents);
  }

  async addKey(name: string): Promise<void> {
    const { public: publicKey } = newSshKeyPair();
    await this.#visitor.ask('POST', '/v1/ssh-keys', { data: { name, publicKey } });
  }

  /** Rents by the API. */
  async rent(fields: object = {}, fate: 'runs' | 'fails' | 'is_lost' = 'runs'): Promise<string> {
    const { id } = await this.#visitor.ask<{ id: string }>('POST', '/v1/rentals', {
      data: { familyId: 'rtx-4090', gpuCount: 1, ...fields },
      headers: { 'x-mock-rental': fate },
    });
    return id;
  }

  async rental(id: string): Promise<Rental> {
    return this.#visitor.ask('GET', `/v1/rentals/${id}`);
  }

  async rentals(): Promise<readonly Rental[]> {
    const { rentals } = await this.#visitor.ask<{ rentals: Rental[] }>('GET', '/v1/rentals?pageSize=200');
    return rentals;
  }

  async stop(id: string): Promise<void> {
    await this.#visitor.ask('POST', `/v1/rentals/${id}/stop`);
  }

  /** Waits until a rental has a state. */
  reaches(id: string, status: Rental['status']): Promise<Rental> {
    return until(`${id} is ${status}`, async () => {
      const rental = await this.rental(id);
      return rental.status === status && rental;
    });
  }
}
