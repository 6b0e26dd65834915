import { defineSignal } from '@temporalio/workflow';
import type { WorkflowContract, WorkflowRun } from './workflow-contract.js';

type WatermarkRun = (input: { readonly value: number }) => Promise<never>;

/**
 * The watermark rises each minute in the database and is kept in Temporal as well: a database below Temporal's was
 * restored (decision 37, "Brakes and the watermark"). Temporal keeps it in the memo of one workflow, which can be read
 * without any worker.
 */
export const watermarkWorkflow: WorkflowContract<'watermark', WatermarkRun> = { type: 'watermark' };

/** The id of its only instance. */
export const watermarkWorkflowId = 'watermark';

/** Signals the value to which the watermark was raised. */
export const raisedSignal = defineSignal<[number]>('raised');

/** The field of its memo that holds the value. */
export const watermarkMemo = 'watermark';

/** Returns the run that begins with a value. */
export function watermarkRun(value: number): WorkflowRun<WatermarkRun> {
  return {
    contract: watermarkWorkflow,
    workflowId: watermarkWorkflowId,
    args: [{ value }],
    summary: 'The highest watermark of the database',
  };
}
