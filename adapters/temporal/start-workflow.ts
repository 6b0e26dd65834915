import type { WorkflowClient } from '@temporalio/client';
import { taskQueues } from '../../domain/task-queues.js';
import type { WorkflowRun } from '../../workflows/contracts/workflow-contract.js';

/** What every start says: under which id, with what, and what operators read of it. One that has ended is no hindrance. */
export function startOptions({ workflowId, args, summary, details }: WorkflowRun) {
  return {
    workflowId,
    taskQueue: taskQueues.rentals,
    args: args as unknown[],
    staticSummary: summary,
    ...(details === undefined ? {} : { staticDetails: details }),
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  } as const;
}

/** Makes sure that something runs under the run's id: what does is left alone, and otherwise the run is started. */
export async function ensureRunning(workflows: WorkflowClient, run: WorkflowRun): Promise<void> {
  await workflows.start(run.contract.type, {
    ...startOptions(run),
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
}
