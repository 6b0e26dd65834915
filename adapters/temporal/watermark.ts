import { WorkflowNotFoundError, type WorkflowClient } from '@temporalio/client';
import {
  raisedSignal,
  watermarkMemo,
  watermarkRun,
  watermarkWorkflow,
  watermarkWorkflowId,
} from '../../workflows/contracts/watermark.js';
import { startOptions } from './start-workflow.js';

/**
 * Reads the highest watermark that Temporal was told, from the memo of its workflow: this needs no worker.
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
  await workflows.signalWithStart(watermarkWorkflow.type, {
    ...startOptions(watermarkRun(value)),
    memo: { [watermarkMemo]: value },
    signal: raisedSignal,
    signalArgs: [value],
  });
}
