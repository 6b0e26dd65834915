import { WithStartWorkflowOperation, type WorkflowClient } from '@temporalio/client';
import type { TopupRequest } from '../../domain/payments/topup.js';
import type { TopupId } from '../../domain/ids.js';
import { formatUsd } from '../../domain/money.js';
import { taskQueues } from '../../domain/task-queues.js';
import {
  amountAttribute,
  entityStatusAttribute,
  userIdAttribute,
} from '../../workflows/contracts/search-attributes.js';
import { openTopupUpdate, topupWorkflow } from '../../workflows/contracts/topup.js';
import type { RunOf } from '../../workflows/contracts/workflow-contract.js';

/**
 * Starts the top-up's workflow (workflows/topup.ts) and waits until its payment page exists or the saved card's charge
 * is answered. A repetition attaches to the run, and gets the first answer. The request was committed before (decision
 * 88, "Rows before workflows").
 * @returns the top-up that answers the request: this one, or a charge that was under way (decision 32, "Checkout and
 *   credit")
 * @throws WorkflowUpdateFailedError around an ApplicationFailure whose type is the code of a refusal
 */
export async function openTopup(
  workflows: WorkflowClient,
  topupId: TopupId,
  { userId, amountCents }: TopupRequest,
  answerBefore: Date,
): Promise<TopupId> {
  const answer = await workflows.executeUpdateWithStart(openTopupUpdate, {
    updateId: 'open',
    startWorkflowOperation: new WithStartWorkflowOperation<RunOf<typeof topupWorkflow>>(topupWorkflow.type, {
      workflowId: topupId,
      taskQueue: taskQueues.rentals,
      args: [{ topupId, open: { answerBefore: answerBefore.toISOString() } }],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      typedSearchAttributes: [
        { key: userIdAttribute, value: userId },
        { key: amountAttribute, value: amountCents },
        { key: entityStatusAttribute, value: 'opening' },
      ],
      staticSummary: `A top-up of ${formatUsd(amountCents)}`,
    }),
  });
  return answer.topupId;
}
