import type { OperationId } from '../../domain/ids.js';
import type { WorkflowContract, WorkflowRun } from './workflow-contract.js';

/** Names a row of `operator_orders`, which says all else (decision 87, "Operator orders"). */
export interface OperationInput {
  readonly operationId: OperationId;
}

export type OperationOutcome =
  | { readonly outcome: 'done' }
  /** The order's row says why, unless there is none. */
  | { readonly outcome: 'refused'; readonly code: string; readonly message?: string }
  /** A second operator must approve it. */
  | { readonly outcome: 'waiting' };

type OperationRun = (input: OperationInput) => Promise<OperationOutcome>;

/** One operator's order; the workflow's id is the order's. `lookSignal` lets an order of many look. */
export const operationWorkflow: WorkflowContract<'operation', OperationRun> = { type: 'operation' };

/** Returns the run that looks at an order. */
export function operationRun(operationId: OperationId): WorkflowRun<OperationRun> {
  return {
    contract: operationWorkflow,
    workflowId: operationId,
    args: [{ operationId }],
    summary: 'An operator’s order',
  };
}
