import { randomBytes } from 'node:crypto';
import type { ListingRow, TopupRow } from '../../adapters/postgres/rows/tables.js';
import type { ChallengeUse } from '../../adapters/postgres/accounts/passkey-challenges.js';
import type { SessionId } from '../../domain/ids.js';
import { meteringLimits } from '../../domain/metering/limits.js';
import { paymentLimits } from '../../domain/payments/limits.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { Accounts, type Account } from './account.js';
import { MockEvents } from './events.js';
import { createListings } from './listings.js';
import type { Machines } from './machines.js';

/** The durations of things in the mock, in milliseconds. */
export interface MockDurations {
  /** From the creation of a rental until it runs (spec: about 2 seconds). */
  readonly provisionMs: number;
  /** Between two ticks of the meter (spec: about one a second). */
  readonly tickMs: number;
  /** From a stop until the machine is gone. */
  readonly endMs: number;
  /** From a setup-intent until its card is saved. */
  readonly cardMs: number;
  /** From running until the loss of a machine with that fate. */
  readonly lostMs: number;
  /** How long a quote holds. */
  readonly quoteMs: number;
  /** Between two auto-topups. */
  readonly cooldownMs: number;
}

export const mockDurations: MockDurations = {
  provisionMs: 2_000,
  tickMs: meteringLimits.tickEveryMs,
  endMs: 500,
  cardMs: 500,
  lostMs: 10_000,
  quoteMs: rentalLimits.quoteMs,
  cooldownMs: paymentLimits.autoTopupCooldownMs,
};

/** The present time and the planned events. Tests bring their own. */
export interface Clock {
  now(): Date;
  /** @returns a function that cancels the event */
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

/** A challenge: for what it is good, for which session (undefined for a sign-in), and until when. */
export interface AskedChallenge {
  readonly purpose: ChallengeUse['purpose'];
  readonly sessionId: SessionId | undefined;
  readonly expiresAt: Date;
}

/** The mock's whole state: who is signed in, which rentals run, and which events are planned. */
export class World {
  readonly accounts = new Accounts(() => this.now());
  readonly events = new MockEvents(() => this.now());
  readonly listings: readonly ListingRow[];
  /** By the id of the processor's session. */
  readonly pages = new Map<string, OpenPage>();
  /** What passkeys are asked to sign. */
  readonly challenges = new Map<string, AskedChallenge>();
  /** Makes the tokens of notebooks. */
  readonly tokenKey = randomBytes(32).toString('base64');
  readonly #toCallOff = new Set<() => void>();
  #rentals = 0;

  constructor(
    /** The mock's address: its pages' addresses begin with it. */
    readonly url: string,
    readonly durations: MockDurations,
    private readonly clock: Clock = systemClock,
    /** Origins of pages that may call with cookies. */
    readonly allowedOrigins: readonly string[] = [],
    /** What is behind `host` of rentals; undefined: nothing. */
    readonly machines?: Machines,
    /** Whether strangers are told what families cost. */
    readonly publicPrices = false,
    /** Where the pages are that passkeys are for, and to which browsers return after a payment. */
    readonly dashboardUrl = url,
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

  /** Plans an event for later; a closed mock drops it. */
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
