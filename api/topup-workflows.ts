import { WithStartWorkflowOperation, type WorkflowClient } from '@temporalio/client';
import type { TopupId } from '../domain/ids.js';
import { taskQueues } from '../domain/task-queues.js';
import { amountAttribute, entityStatusAttribute, userIdAttribute } from '../workflows/search-attributes.js';
import {
  openTopupUpdate,
  processorEventSignal,
  topupWorkflow,
  type TopupInput,
  type TopupOutcome,
} from '../workflows/topup-contract.js';

type TopupWorkflow = (input: TopupInput) => Promise<TopupOutcome>;

/**
 * Starts the top-up's workflow (workflows/topup.ts) and waits until its payment page exists. Asking again attaches
 * to what runs, and gets the first answer.
 * @throws WorkflowUpdateFailedError around an ApplicationFailure whose type is the code of a refusal
 */
export async function openTopup(
  workflows: WorkflowClient,
  topupId: TopupId,
  open: NonNullable<TopupInput['open']>,
): Promise<void> {
  await workflows.executeUpdateWithStart(openTopupUpdate, {
    updateId: 'open',
    startWorkflowOperation: new WithStartWorkflowOperation<TopupWorkflow>(topupWorkflow, {
      workflowId: topupId,
      taskQueue: taskQueues.rentals,
      args: [{ topupId, open }],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      typedSearchAttributes: [
        { key: userIdAttribute, value: open.userId },
        { key: amountAttribute, value: open.amountCents },
        { key: entityStatusAttribute, value: 'opening' },
      ],
      staticSummary: `${open.amountCents} cents`,
    }),
  });
}

/**
 * Tells a top-up's workflow that an event about it was stored. A workflow that has ended is started again for its
 * row, and looks at the row before anything else (design: Temporal 1).
 */
export async function signalTopup(workflows: WorkflowClient, topupId: TopupId): Promise<void> {
  await workflows.signalWithStart<TopupWorkflow>(topupWorkflow, {
    workflowId: topupId,
    taskQueue: taskQueues.rentals,
    args: [{ topupId }],
    signal: processorEventSignal,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  });
}
