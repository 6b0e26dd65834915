import type { WorkflowClient } from '@temporalio/client';
import { taskQueues } from '../../domain/task-queues.js';
import type { WorkflowRun } from '../../workflows/contracts/workflow-contract.js';

/**
 * The options of every start: the id, the arguments, and a summary for operators. A run that has ended is no hindrance.
 */
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

/** Makes sure that a workflow runs under the run's id: it leaves a running one alone, and starts one otherwise. */
export async function ensureRunning(workflows: WorkflowClient, run: WorkflowRun): Promise<void> {
  await workflows.start(run.contract.type, {
    ...startOptions(run),
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
}
