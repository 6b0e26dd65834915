import type { ReconcileInput, ReconcileReport } from '../../domain/operations/reconcile.js';
import type { WorkflowContract, WorkflowRun, WorkflowSchedule } from './workflow-contract.js';

type ReconcileRun = (input: ReconcileInput) => Promise<ReconcileReport>;

/** Compares our books with the processor's and the upstreams' (decision 62, "Comparison of the books"). */
export const reconcileWorkflow: WorkflowContract<'reconcile', ReconcileRun> = { type: 'reconcile' };

export const reconcileSchedules: readonly WorkflowSchedule<ReconcileRun>[] = [
  {
    id: 'reconcile',
    contract: reconcileWorkflow,
    args: [{ scope: 'window' }],
    every: '15m',
    note: 'Compares our books, the processor and the upstreams over the last hours.',
  },
  {
    id: 'reconcile-full',
    contract: reconcileWorkflow,
    args: [{ scope: 'full' }],
    every: '24h',
    offset: '3h',
    note: 'Compares all of our books with the processor, and walks every wallet.',
  },
];

/** Returns a run that an operator asks for, beside the schedules' own. */
export function reconcileRun(workflowId: string, input: ReconcileInput): WorkflowRun<ReconcileRun> {
  return {
    contract: reconcileWorkflow,
    workflowId,
    args: [input],
    summary: 'reconcile, asked for by an operator',
  };
}
