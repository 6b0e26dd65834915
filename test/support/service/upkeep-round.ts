import { runRound } from '../../../activities/upkeep/upkeep.js';
import type { UpkeepDuty } from '../../../domain/operations/upkeep.js';
import { taskQueues } from '../../../domain/task-queues.js';
import { runAlone } from './activity-context.js';
import type { TestService } from './living-service.js';

/** Runs a round of the upkeep now, in this process. @returns what it did */
export async function runUpkeepRound(
  service: Pick<TestService, 'activityDeps'>,
  duty: UpkeepDuty,
): Promise<Record<string, unknown>> {
  const deps = await service.activityDeps();
  return (await runAlone(() => runRound(deps, duty, () => undefined)).result) as Record<string, unknown>;
}

/** Takes in the processor's events that never arrived, as the schedule does. @returns how many there were */
export async function runBackfill({ temporal }: Pick<TestService, 'temporal'>): Promise<{ missed: number }> {
  const options = { workflowId: 'backfill-by-hand', taskQueue: taskQueues.rentals };
  return (await temporal.workflow.execute('backfill', options)) as { missed: number };
}
