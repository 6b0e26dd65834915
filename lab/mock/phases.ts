import type { WaitingFacts } from '../../adapters/postgres/rentals/progress-reads.js';
import type { RentalWithHealth } from '../../adapters/postgres/rentals/rental-reads.js';
import { reliabilityLimits } from '../../domain/catalog/reliability.js';
import type { World } from './world.js';

/** The share of the provisioning after which a phase begins, and what the service's rows say from then on. */
const steps: readonly [share: number, facts: (now: Date) => Partial<WaitingFacts>][] = [
  [0.1, (now) => ({ attempt: 1, attempt_state: 'open', attempt_created_at: now, attempt_changed_at: now })],
  [0.25, (now) => ({ attempt_state: 'adopted', attempt_changed_at: now })],
  [0.5, (now) => ({ machine_active_at: now })],
  [0.9, (now) => ({ attempt_answered_at: now })],
];

/** Lets a new rental go through the phases; the last one is its running. */
export function walkPhases(world: World, row: RentalWithHealth): void {
  for (const [share, facts] of steps) {
    world.after(world.durations.provisionMs * share, () => {
      row.waiting = row.waiting && { ...row.waiting, ...facts(world.now()) };
    });
  }
}

/** The facts of a rental that was asked for just now. */
export function queuedFacts(world: World, rentalNo: number): WaitingFacts {
  const seconds = Math.ceil(world.durations.provisionMs / 1_000);
  return {
    rental_no: rentalNo,
    stop_asked: false,
    attempt: null,
    attempt_state: null,
    attempt_created_at: null,
    attempt_changed_at: null,
    attempt_given_up_at: null,
    attempt_answered_at: null,
    attempt_launch_at: null,
    machine_active_at: null,
    ready_samples: reliabilityLimits.minSamples,
    ready_p50_seconds: seconds,
    ready_p90_seconds: seconds + 1,
    read_at: world.now(),
  };
}
