import type { ListingRow, TopupRow } from '../../adapters/postgres/rows/tables.js';
import { meteringLimits } from '../../domain/metering/limits.js';
import { paymentLimits } from '../../domain/payments/limits.js';
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
  tickMs: meteringLimits.tickEveryMs,
  endMs: 500,
  cardMs: 500,
  lostMs: 10_000,
  cooldownMs: paymentLimits.autoTopupCooldownMs,
};

/** What time it is, and what is still to happen. Tests bring their own. */
export interface Clock {
  now(): Date;
  /** @returns what calls it off */
  after(ms: number, happen: () => void): () => void;
}

const systemClock: Clock = {
  now: () => new Date(),
  after(ms, happen) {
    const timer = setTimeout(happen, ms);
    return () => clearTimeout(timer);
  },
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
  readonly #toCallOff = new Set<() => void>();
  #rentals = 0;

  constructor(
    /** Where the mock is reached: its pages' addresses begin with it. */
    readonly url: string,
    readonly durations: MockDurations,
    private readonly clock: Clock = systemClock,
  ) {
    this.listings = createListings(this.now());
  }

  now(): Date {
    return this.clock.now();
  }

  nextRentalNo(): number {
    this.#rentals += 1;
    return this.#rentals;
  }

  /** Lets something happen later, unless the mock is closed by then. */
  after(ms: number, happen: () => void): void {
    const callOff = this.clock.after(ms, () => {
      this.#toCallOff.delete(callOff);
      happen();
    });
    this.#toCallOff.add(callOff);
  }

  close(): void {
    for (const callOff of this.#toCallOff) callOff();
    this.#toCallOff.clear();
  }
}
