import { WorkflowNotFoundError, type WorkflowClient } from '@temporalio/client';
import { lookingWorkflows } from '../../workflows/contracts/index.js';
import type { LookingWorkflow } from '../../workflows/contracts/workflow-contract.js';
import { ensureRunning } from './start-workflow.js';

/**
 * Counts how often the task of an open run has failed or timed out in a row. Such a run handles no signal, no update and
 * no timer until its task succeeds.
 * @returns 0 as well where the run has ended, or is not known
 */
export async function countTaskFailures(workflows: WorkflowClient, workflowId: string): Promise<number> {
  try {
    const { raw } = await workflows.getHandle(workflowId).describe();
    return Math.max(0, (raw.pendingWorkflowTask?.attempt ?? 1) - 1);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 0;
    throw error;
  }
}

/**
 * Ends the open run of a workflow, and begins a new one from its row. Its row is its state, so the new run goes on where
 * the other one stood. Runs without a row of their own are begun again by the upkeep or by their schedule.
 * @returns whether a new run was begun here
 */
export async function replaceRun(
  workflows: WorkflowClient,
  workflowId: string,
  reason: string,
): Promise<boolean> {
  const handle = workflows.getHandle(workflowId);
  const { type } = await handle.describe();
  try {
    await handle.terminate(reason);
  } catch (error) {
    // It has ended meanwhile.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
  const contract: LookingWorkflow | undefined = Object.values(lookingWorkflows).find(
    (known) => known.type === type,
  );
  if (contract === undefined) return false;
  await ensureRunning(workflows, contract.takeUp(workflowId));
  return true;
}
