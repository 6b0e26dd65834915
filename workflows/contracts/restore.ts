import type { OperationId } from '../../domain/ids.js';
import type { Reconciled, RestoreReport } from '../../domain/operations/restore.js';
import type { WorkflowContract, WorkflowRun } from './workflow-contract.js';

export interface RestoreInput {
  /** Absent: the run only looks. */
  readonly reconcile?: {
    /** The operator's order: its row says who and why (decision 87, "Operator orders"). */
    readonly operationId: OperationId;
    /** Goes on although an upstream does not answer. */
    readonly withoutSilentUpstreams: boolean;
    /** Goes on although some rentals or payments could not be brought up to date. */
    readonly leaveUndone?: boolean;
  };
}

export interface RestoreOutcome {
  /** incomplete: all that could be done is done, the rest is named, and the service does not go on. */
  readonly outcome: 'looked' | 'nothing to do' | 'refused' | 'incomplete' | 'reconciled';
  /** Why it was refused, and what to do. */
  readonly message?: string;
  /** The state as it was found, before anything was done. */
  readonly report: RestoreReport;
  /** The rentals and payments that could not be brought up to date, each with its reason. */
  readonly undone?: readonly string[];
  readonly reconciled?: Reconciled;
}

type RestoreRun = (input: RestoreInput) => Promise<RestoreOutcome>;

export const restoreWorkflow: WorkflowContract<'restore', RestoreRun> = { type: 'restore' };

/** One id each: two operators at once reconcile once. */
export const restoreWorkflowIds = { look: 'restore:look', reconcile: 'restore:reconcile' } as const;

/** Returns the run that compares, or that does what an order asks for. */
export function restoreRun(input: RestoreInput): WorkflowRun<RestoreRun> {
  return {
    contract: restoreWorkflow,
    workflowId: input.reconcile === undefined ? restoreWorkflowIds.look : restoreWorkflowIds.reconcile,
    args: [input],
    summary: 'A restored database',
  };
}
