import type { InvoiceId } from '../../domain/ids.js';
import { processorEventSignal } from './signals.js';
import { rowIdOf, type LookingWorkflow } from './workflow-contract.js';

export interface InvoiceInput {
  readonly invoiceId: InvoiceId;
  /** The length of a day of dunning, in milliseconds. Default: a real day. */
  readonly dayMs?: number;
}

type InvoiceRun = (input: InvoiceInput) => Promise<{ outcome: string }>;

/** One invoice; the workflow's id is the invoice's. */
export const invoiceWorkflow: LookingWorkflow<'invoice', InvoiceRun> = {
  type: 'invoice',
  signal: processorEventSignal,
  takeUp: (workflowId) => ({
    contract: invoiceWorkflow,
    workflowId,
    args: [{ invoiceId: rowIdOf('inv', workflowId) }],
    summary: 'An invoice: opens it, reminds of it, and follows its payment',
  }),
};
