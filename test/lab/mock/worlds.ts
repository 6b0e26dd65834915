import { newId } from '../../../adapters/ids.js';
import type { RentalRequest } from '../../../domain/opening.js';
import type { Account } from '../../../lab/mock/account.js';
import { tick } from '../../../lab/mock/meter.js';
import { mockDurations, World, type Clock } from '../../../lab/mock/world.js';

/** A clock that stands still until a test advances it. */
class TestClock implements Clock {
  #nowMs = Date.parse('2026-11-01T00:00:00Z');
  #due: { atMs: number; happen: () => void }[] = [];

  now(): Date {
    return new Date(this.#nowMs);
  }

  after(ms: number, happen: () => void): () => void {
    const due = { atMs: this.#nowMs + ms, happen };
    this.#due.push(due);
    return () => {
      this.#due = this.#due.filter((each) => each !== due);
    };
  }

  /** Goes on, and lets each event happen at its own instant. */
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const next = this.#due.toSorted((a, b) => a.atMs - b.atMs)[0];
      if (!next || next.atMs > untilMs) break;
      this.#due = this.#due.filter((each) => each !== next);
      this.#nowMs = next.atMs;
      next.happen();
    }
    this.#nowMs = untilMs;
  }
}

/** The mock's memory without its server, and one account in it. */
export function createTestWorld(): {
  world: World;
  account: Account;
  live: (ms: number) => void;
  jump: (ms: number) => void;
} {
  const clock = new TestClock();
  const world = new World('http://127.0.0.1:1', mockDurations, clock);
  const { account } = world.accounts.signIn('ann@example.com', {});
  return {
    world,
    account,
    /** Lets time pass with a tick each second, as the server does. */
    live(ms) {
      for (let leftMs = ms; leftMs > 0; leftMs -= 1_000) {
        clock.advance(Math.min(1_000, leftMs));
        tick(world);
      }
    },
    /** Lets time pass with one tick, at its end. */
    jump(ms) {
      clock.advance(ms);
      tick(world);
    },
  };
}

/** A request for eight B200 at 3992 cents an hour. */
export function requestOf(more: Partial<RentalRequest> = {}): RentalRequest {
  return {
    ...{ userId: newId('usr'), familyId: 'b200', gpuCount: 8, templateId: 'ubuntu-24-04', region: null },
    ...{ name: null, sshKeyIds: [], autoStopAfterMs: null, maxSpendCents: null, maxPricePerHourCents: null },
    ...more,
  };
}
