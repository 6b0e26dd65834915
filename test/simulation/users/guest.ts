import { setTimeout as sleep } from 'node:timers/promises';
import { stop } from './acts/renting.js';
import { paySurely, rentSurely } from './acts/surely.js';
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

  #pay(): Promise<void> {
    return paySurely(this.user, 2_500);
  }

  async #rent(): Promise<void> {
    this.#rentals.push(await rentSurely(this.user, { familyId: 'a100-80gb', gpuCount: 8 }));
  }

  async #stopOne(): Promise<void> {
    const id = this.#rentals.shift();
    if (id !== undefined) await stop(this.user, id);
    await sleep(1_000);
  }
}
