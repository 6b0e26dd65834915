import type { MeterRound, RentalLook, RentalPhase } from '../../../activities/rentals/rental.js';
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

/** A round of the metering loop that leaves the rental in this phase. */
export function round(nextLookMs: number, phase: RentalPhase = 'running'): MeterRound {
  return { nextLookMs, look: look(phase) };
}

/** The status of a rental's row in each phase, as stops lead to it. */
const statusOf: Record<RentalPhase, string> = {
  missing: '',
  find_pod: 'provisioning',
  await_pod: 'provisioning',
  running: 'running',
  ended: 'stopping',
  end_pod: 'stopping',
  closed: 'stopped',
};

/** A row that moves on as the activities are called, for tests that do not know the looks beforehand. */
export class ScriptedRow {
  readonly script = {
    lookAtRental: () => Promise.resolve(this.seen()),
    meterRental: () => this.meter(),
    settleRental: () => this.moveTo('end_pod'),
    endPods: done,
    closeRental: () => this.moveTo('closed'),
    giveUpProvisioning: () => this.moveTo('end_pod'),
  } satisfies Script;

  constructor(public phase: RentalPhase) {}

  meter(): Promise<MeterRound> {
    return Promise.resolve({ nextLookMs: this.phase === 'running' ? never : 0, look: this.seen() });
  }

  /** The row as a look sees it: only its statuses differ. */
  seen(): RentalLook {
    return look(this.phase, statusOf[this.phase]);
  }

  moveTo(phase: RentalPhase): Promise<RentalLook> {
    this.phase = phase;
    return Promise.resolve(this.seen());
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
