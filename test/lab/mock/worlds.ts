import { newId } from '../../../adapters/ids.js';
import type { RentalRequest } from '../../../domain/rentals/request.js';
import type { Account } from '../../../lab/mock/account.js';
import { tick } from '../../../lab/mock/meter.js';
import { SteeredClock } from '../../../lab/mock/steered-clock.js';
import { mockDurations, World } from '../../../lab/mock/world.js';

/** The mock's memory without its server, and one account in it. */
export function createTestWorld(): {
  world: World;
  account: Account;
  live: (ms: number) => void;
  jump: (ms: number) => void;
  pass: (ms: number) => void;
} {
  const clock = new SteeredClock('2026-11-01T00:00:00Z');
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
    /** Lets time pass without a tick. */
    pass: (ms) => clock.advance(ms),
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
