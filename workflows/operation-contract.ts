import type { OperationResult } from '../domain/operation.js';

export type OperationOutcome =
  | { readonly outcome: 'done'; readonly result: OperationResult }
  | { readonly outcome: 'refused'; readonly code: string; readonly message: string };

export const operationWorkflow = 'operation';
