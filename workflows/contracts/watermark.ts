import { defineSignal } from '@temporalio/workflow';
import type { WorkflowContract, WorkflowRun } from './workflow-contract.js';

type WatermarkRun = (input: { readonly value: number }) => Promise<never>;

/**
 * The watermark is raised each minute in the database and kept in Temporal as well: a database below Temporal's was
 * restored (decision 37, "Brakes and the watermark"). Temporal keeps it in the memo of one workflow, which can be read
 * without any worker.
 */
export const watermarkWorkflow: WorkflowContract<'watermark', WatermarkRun> = { type: 'watermark' };

/** Its only instance. */
export const watermarkWorkflowId = 'watermark';

/** The watermark was raised to a value. */
export const raisedSignal = defineSignal<[number]>('raised');

/** The field of its memo. */
export const watermarkMemo = 'watermark';

/** The run that begins with a value. */
export function watermarkRun(value: number): WorkflowRun<WatermarkRun> {
  return {
    contract: watermarkWorkflow,
    workflowId: watermarkWorkflowId,
    args: [{ value }],
    summary: 'The highest watermark of the database',
  };
}
