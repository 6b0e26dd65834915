import { CancellationScope, proxyLocalActivities, TemporalFailure } from '@temporalio/workflow';
import type { RentalLook } from '../activities/rentals/rental.js';
import type { RentalId } from '../domain/ids.js';
import { steps } from './activity-proxies.js';

/**
 * The steps of a rental that ask the database alone, a few statements each. They answer with a look at what they left;
 * a worker of an earlier release answers without one.
 */
export interface ShortSteps {
  lookAtRental(rentalId: RentalId): Promise<RentalLook>;
  startMetering(rentalId: RentalId): Promise<RentalLook | undefined>;
  giveUpProvisioning(rentalId: RentalId, error: string | null): Promise<RentalLook | undefined>;
  meterRental(rentalId: RentalId, beltMs: number): Promise<{ nextLookMs: number; look?: RentalLook }>;
  settleRental(rentalId: RentalId): Promise<RentalLook | undefined>;
  closeRental(rentalId: RentalId): Promise<RentalLook | undefined>;
}

const names: readonly (keyof ShortSteps)[] = [
  'lookAtRental',
  'startMetering',
  'giveUpProvisioning',
  'meterRental',
  'settleRental',
  'closeRental',
];

/**
 * One try. All tries of one task together stay far below the task's own 10 seconds, after which the server would add
 * events to the history for each further extension.
 */
const local = proxyLocalActivities<{ [Name in keyof ShortSteps]: ShortSteps[Name] }>({
  scheduleToStartTimeout: '500ms',
  startToCloseTimeout: '2s',
  scheduleToCloseTimeout: '2500ms',
  retry: { maximumAttempts: 1 },
});

/**
 * The short steps, taken within the workflow's own task: one event each instead of six (decision 120, "Steps within a
 * task"). A step that does not go well at once is scheduled as an activity, whose tries the server keeps and operators
 * see as pending. A step that was given up here may still commit: it is the same as an activity's earlier try. A run
 * never takes two of them at once, because results that come in another order than they were asked for do not always
 * replay.
 */
export const withinTask = Object.fromEntries(
  names.map((name) => [name, (...args: never[]) => firstWithinTask(name, args)]),
) as unknown as ShortSteps;

async function firstWithinTask(name: keyof ShortSteps, args: never[]): Promise<unknown> {
  const call = (of: ShortSteps): Promise<unknown> =>
    (of[name] as (...given: never[]) => Promise<unknown>)(...args);
  try {
    return await call(local);
  } catch (error) {
    // A worker that shuts down cancels the step, not the workflow.
    const isOver = CancellationScope.current().consideredCancelled;
    if (isOver || !(error instanceof TemporalFailure)) throw error;
    return call(steps);
  }
}
