import type { OperationId } from '../../domain/ids.js';

/** Names a row of `operator_orders`, which says all else (decision 87). */
export interface OperationInput {
  readonly operationId: OperationId;
}

export type OperationOutcome =
  | { readonly outcome: 'done' }
  /** The order's row says why, unless there is none. */
  | { readonly outcome: 'refused'; readonly code: string; readonly message?: string }
  /** A second operator must approve it. */
  | { readonly outcome: 'waiting' };

export const operationWorkflow = 'operation';
