import type { WorkflowContract, WorkflowSchedule } from './workflow-contract.js';

type BackfillRun = () => Promise<object>;

/** Takes in events of the processor that never arrived. */
export const backfillWorkflow: WorkflowContract<'backfill', BackfillRun> = { type: 'backfill' };

export const backfillSchedule: WorkflowSchedule<BackfillRun> = {
  id: 'backfill',
  contract: backfillWorkflow,
  args: [],
  every: '5m',
  note: 'Takes in events of the processor that never arrived.',
};
