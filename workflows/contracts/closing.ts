import { userOfClosing } from '../../domain/accounts/closing.js';
import type { UserId } from '../../domain/ids.js';
import { processorEventSignal } from './signals.js';
import { rowIdOf, type LookingWorkflow } from './workflow-contract.js';

export interface ClosingInput {
  readonly userId: UserId;
  /** How long to wait until the next look, in milliseconds; the last one repeats. */
  readonly askAfterMs?: readonly number[];
}

type ClosingRun = (input: ClosingInput) => Promise<{ outcome: string }>;

/** The closing of one account; domain/accounts/closing.ts makes and reads its id. */
export const closingWorkflow: LookingWorkflow<'closing', ClosingRun> = {
  type: 'closing',
  signal: processorEventSignal,
  takeUp: (workflowId) => ({
    contract: closingWorkflow,
    workflowId,
    args: [{ userId: rowIdOf('usr', userOfClosing(workflowId)) }],
    summary: 'Closes an account: machines, money, then the person',
  }),
};
