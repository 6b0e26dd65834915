import { taskQueues } from '../../../domain/task-queues.js';
import type { TestService } from './living-service.js';

/** A workflow that does one round of an upkeep's duty (workflows/upkeep.ts). */
export type UpkeepDuty = 'backfill' | 'housekeeping' | 'redeliver' | 'revive' | 'sweep';

/** Runs a round of the upkeep now, and waits for what it did. */
export async function runUpkeepRound(
  { temporal }: Pick<TestService, 'temporal'>,
  duty: UpkeepDuty,
): Promise<Record<string, unknown>> {
  const options = { workflowId: `${duty}-by-hand`, taskQueue: taskQueues.rentals };
  return (await temporal.workflow.execute(duty, options)) as Record<string, unknown>;
}
