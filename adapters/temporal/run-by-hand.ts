import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  type WorkflowClient,
} from '@temporalio/client';
import type { Workflow } from '@temporalio/common';
import type { OperationId } from '../../domain/ids.js';
import type { ReconcileInput, ReconcileReport } from '../../domain/operations/reconcile.js';
import { operationRun, type OperationOutcome } from '../../workflows/contracts/operation.js';
import { reconcileRun } from '../../workflows/contracts/reconcile.js';
import { restoreRun, type RestoreInput, type RestoreOutcome } from '../../workflows/contracts/restore.js';
import type { WorkflowRun } from '../../workflows/contracts/workflow-contract.js';
import { startOptions } from './start-workflow.js';

/**
 * Lets an order's workflow look at it, and waits for the outcome. A look under way may have begun before the approval
 * of the order: the call waits for it, and another look follows.
 */
export async function runOrder(
  workflows: WorkflowClient,
  operationId: OperationId,
): Promise<OperationOutcome> {
  for (;;) {
    try {
      return await execute(workflows, operationRun(operationId), 'FAIL');
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      await waitUntilEnded(workflows, operationId);
    }
  }
}

/** Examines a restored database, or reconciles it. Another operator's run is waited for: its effects happen once. */
export function runRestore(workflows: WorkflowClient, input: RestoreInput): Promise<RestoreOutcome> {
  return execute(workflows, restoreRun(input), 'USE_EXISTING');
}

/** Compares the books under an id of its own, and waits for the report. */
export function runReconcile(
  workflows: WorkflowClient,
  workflowId: string,
  input: ReconcileInput,
): Promise<ReconcileReport> {
  return execute(workflows, reconcileRun(workflowId, input), 'FAIL');
}

async function execute<Run extends Workflow>(
  workflows: WorkflowClient,
  run: WorkflowRun<Run>,
  workflowIdConflictPolicy: 'FAIL' | 'USE_EXISTING',
): Promise<Awaited<ReturnType<Run>>> {
  const options = { ...startOptions(run), workflowIdConflictPolicy };
  return (await workflows.execute(run.contract.type, options)) as Awaited<ReturnType<Run>>;
}

/** Waits until the workflow of an id has ended, in whatever way. */
async function waitUntilEnded(workflows: WorkflowClient, workflowId: string): Promise<void> {
  try {
    await workflows.getHandle(workflowId).result();
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
  }
}
