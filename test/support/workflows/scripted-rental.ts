import type { RentalLook, RentalPhase } from '../../../activities/rentals/rental.js';
import type { RentalId } from '../../../domain/ids.js';
import { newId } from '../../../adapters/ids.js';
import { rentalWorkflow, stopUpdate, type RentalDurations } from '../../../workflows/contracts/rental.js';
import { inTurn, type MockedRun, type MockedWorkflows, type Script } from './mocked-activities.js';

/** The durations of a scripted rental. Each differs, so that a test sees which of them goes where. */
export const durations: RentalDurations = { provisionDeadlineMs: 1_001, unknownFindMs: 1_002, beltMs: 1_003 };

/** Longer than any test: only a signal ends such a wait. */
export const never = 3_600_000;

export const done = (): Promise<void> => Promise.resolve();

/** A look at a rental's row. */
export function look(phase: RentalPhase, status = 'running'): RentalLook {
  const facts = { status, userId: 'usr_1', provider: 'lab', pricePerHourCents: 399 };
  return { phase, facts: phase === 'missing' ? null : facts, summary: phase };
}

/** The rental's row at each look, in order. */
export function looks(...phases: (RentalPhase | RentalLook)[]): () => Promise<RentalLook> {
  return inTurn(...phases.map((phase) => (typeof phase === 'string' ? look(phase) : phase)));
}

/** A row that moves on as the activities are called, for tests that do not know the looks beforehand. */
export class ScriptedRow {
  readonly script = {
    lookAtRental: () => Promise.resolve(look(this.phase)),
    meterRental: () => Promise.resolve({ nextLookMs: this.phase === 'running' ? never : 0 }),
    settleRental: () => this.moveTo('end_pod'),
    endPods: done,
    closeRental: () => this.moveTo('closed'),
    giveUpProvisioning: () => this.moveTo('end_pod'),
  } satisfies Script;

  constructor(public phase: RentalPhase) {}

  moveTo(phase: RentalPhase): Promise<void> {
    this.phase = phase;
    return Promise.resolve();
  }
}

/** Takes up a rental whose row exists. */
export async function takeUp(
  workflows: MockedWorkflows,
  script: Script,
): Promise<{ run: MockedRun; rentalId: RentalId }> {
  const rentalId = newId('rent');
  return {
    run: await workflows.begin(rentalWorkflow.type, rentalId, { rentalId, durations }, script),
    rentalId,
  };
}

/** Requests the rental's stop. @returns the request's answer */
export function stop(run: MockedRun): Promise<unknown> {
  return run.handle.executeUpdate(stopUpdate, { updateId: 'stop' });
}
