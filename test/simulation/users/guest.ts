import { setTimeout as sleep } from 'node:timers/promises';
import { stop } from './acts/renting.js';
import type { User } from './user.js';

/** A user of the last evening, who does the same in each run: their ledger has seals for sure. */
export class Guest {
  /** Whether they have rented since the restore. */
  hasGoneOn = false;
  readonly #rentals: string[] = [];

  constructor(private readonly user: User) {}

  /** Signs in, pays and rents. */
  async arrive(): Promise<void> {
    await this.user.signIn();
    await this.#pay();
    await this.#rent();
    await this.#rent();
  }

  /** Pays, rents and stops, of which a restored database will know nothing. */
  async actInLostTime(): Promise<void> {
    await this.#pay();
    await this.#rent();
    await this.#stopOne();
  }

  /** Goes on after a restore, which has signed everybody out. */
  async goOn(): Promise<void> {
    await this.user.signIn();
    await this.#rent();
    this.hasGoneOn = true;
  }

  /** Stops everything. */
  async leave(): Promise<void> {
    while (this.#rentals.length > 0) await this.#stopOne();
  }

  async #pay(): Promise<void> {
    const answer = await this.user.askKeyed('checkout', '/v1/billing/checkout', { amountCents: 2_500 });
    const url = answer?.body['checkoutUrl'];
    if (typeof url !== 'string') throw new Error('nothing can be paid in calm');
    this.user.parts.world.processor.payPage(url, false);
    await sleep(60_000);
  }

  async #rent(): Promise<void> {
    const wish = { familyId: 'a100-80gb', gpuCount: 8 };
    const answer = await this.user.askKeyed('create', '/v1/rentals', wish);
    const id = answer?.body['id'];
    if (typeof id !== 'string') throw new Error('nothing can be rented in calm');
    this.#rentals.push(id);
    await sleep(60_000);
  }

  async #stopOne(): Promise<void> {
    const id = this.#rentals.shift();
    if (id !== undefined) await stop(this.user, id);
    await sleep(1_000);
  }
}
