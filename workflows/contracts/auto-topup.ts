import type { UserId } from '../../domain/ids.js';
import { userOfAutoTopup } from '../../domain/payments/processor-routes.js';
import { processorEventSignal } from './signals.js';
import { rowIdOf, type LookingWorkflow } from './workflow-contract.js';

export interface AutoTopupInput {
  readonly userId: UserId;
  /** When to ask the processor itself if no event came, in milliseconds; the last one repeats. */
  readonly askAfterMs?: readonly number[];
}

type AutoTopupRun = (input: AutoTopupInput) => Promise<{ outcome: string }>;

/**
 * The auto-topup of one user. domain/payments/processor-routes.ts makes and reads its id, and routes the processor's
 * events to it.
 */
export const autoTopupWorkflow: LookingWorkflow<'autoTopup', AutoTopupRun> = {
  type: 'autoTopup',
  signal: processorEventSignal,
  takeUp: (workflowId) => ({
    contract: autoTopupWorkflow,
    workflowId,
    args: [{ userId: rowIdOf('usr', userOfAutoTopup(workflowId)) }],
    summary: 'Charges the saved card when the balance falls below the threshold',
  }),
};
