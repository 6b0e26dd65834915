import type { ListingRow, TopupRow } from '../../adapters/postgres/tables.js';
import { limits } from '../../domain/limits.js';
import { Accounts, type Account } from './account.js';
import { createListings } from './listings.js';

/** How long things take in the mock, in milliseconds. */
export interface MockDurations {
  /** From the creation of a rental until it runs (spec: about 2 seconds). */
  readonly provisionMs: number;
  /** Between two ticks of the meter (spec: about one a second). */
  readonly tickMs: number;
  /** From a stop until the machine is gone. */
  readonly endMs: number;
  /** From a setup-intent until its card is saved. */
  readonly cardMs: number;
  /** From running until a machine is lost that is to be lost. */
  readonly lostMs: number;
  /** Between two auto-topups. */
  readonly cooldownMs: number;
}

export const mockDurations: MockDurations = {
  provisionMs: 2_000,
  tickMs: limits.tickEveryMs,
  endMs: 500,
  cardMs: 500,
  lostMs: 10_000,
  cooldownMs: limits.autoTopupCooldownMs,
};

/** A payment page that was opened. */
interface OpenPage {
  readonly account: Account;
  readonly topup: TopupRow;
}

/** Everything that the mock knows: who is signed in, what runs, and what is still to happen. */
export class World {
  readonly accounts = new Accounts(() => this.now());
  readonly listings: readonly ListingRow[];
  /** By the id of the processor's session. */
  readonly pages = new Map<string, OpenPage>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #rentals = 0;

  constructor(
    /** Where the mock is reached: its pages' addresses begin with it. */
    readonly url: string,
    readonly durations: MockDurations,
  ) {
    this.listings = createListings(this.now());
  }

  now(): Date {
    return new Date();
  }

  nextRentalNo(): number {
    this.#rentals += 1;
    return this.#rentals;
  }

  /** Lets something happen later, unless the mock is closed by then. */
  after(ms: number, happen: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      happen();
    }, ms);
    this.#timers.add(timer);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
