import { WorkflowNotFoundError, type WorkflowClient } from '@temporalio/client';
import { taskQueues } from '../../domain/task-queues.js';
import {
  watermarkMemo,
  watermarkSignalName,
  watermarkWorkflow,
  watermarkWorkflowId,
} from '../../domain/operations/watermark.js';

/**
 * The highest watermark that Temporal was told, from the memo of its workflow: no worker is needed for the answer.
 * @returns null when it was never told of one
 */
export async function readKeptWatermark(workflows: WorkflowClient): Promise<number | null> {
  try {
    const { memo } = await workflows.getHandle(watermarkWorkflowId).describe();
    const kept = memo?.[watermarkMemo];
    if (typeof kept === 'number') return kept;
    throw new Error(`the workflow ${watermarkWorkflowId} shows no watermark in its memo`);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** Tells Temporal of a raised watermark. */
export async function signalWatermark(workflows: WorkflowClient, value: number): Promise<void> {
  await workflows.signalWithStart(watermarkWorkflow, {
    workflowId: watermarkWorkflowId,
    taskQueue: taskQueues.rentals,
    args: [{ value }],
    memo: { [watermarkMemo]: value },
    staticSummary: 'The highest watermark of the database',
    signal: watermarkSignalName,
    signalArgs: [value],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  });
}
