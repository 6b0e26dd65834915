import { WithStartWorkflowOperation, type WorkflowClient } from '@temporalio/client';
import type { ChangeId, RentalId } from '../../domain/ids.js';
import type { RentalRequest } from '../../domain/rentals/request.js';
import { taskQueues } from '../../domain/task-queues.js';
import { changeUpdate, openUpdate, rentalWorkflow, stopUpdate } from '../../workflows/contracts/rental.js';
import { entityStatusAttribute, userIdAttribute } from '../../workflows/contracts/search-attributes.js';
import type { RunOf } from '../../workflows/contracts/workflow-contract.js';

/**
 * Starts the rental's workflow (workflows/rental.ts) and waits for its first answer. The ids are fixed, so a repetition
 * attaches to the run, and gets the first answer even from a workflow that has ended (design: Temporal 2). The request
 * was committed before (decision 88, "Rows before workflows").
 * @throws WorkflowUpdateFailedError around an ApplicationFailure whose type is the code of a refusal
 */
export async function startRental(
  workflows: WorkflowClient,
  rentalId: RentalId,
  { userId, gpuCount, familyId }: RentalRequest,
  answerBefore: Date,
): Promise<void> {
  await workflows.executeUpdateWithStart(openUpdate, {
    updateId: 'open',
    startWorkflowOperation: new WithStartWorkflowOperation<RunOf<typeof rentalWorkflow>>(
      rentalWorkflow.type,
      {
        workflowId: rentalId,
        taskQueue: taskQueues.rentals,
        args: [{ rentalId, open: { answerBefore: answerBefore.toISOString() } }],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        typedSearchAttributes: [
          { key: userIdAttribute, value: userId },
          { key: entityStatusAttribute, value: 'opening' },
        ],
        staticSummary: `${gpuCount} x ${familyId}`,
        staticDetails:
          'The row in `rentals` is the truth: a lost or terminated run is started again from it. To end the rental, never terminate this workflow: stop it as its user would, or as an operator.',
      },
    ),
  });
}

/** Tells the rental's workflow of the stop request and waits until the rental is settled. */
export async function awaitStop(workflows: WorkflowClient, rentalId: RentalId): Promise<void> {
  await workflows.getHandle(rentalId).executeUpdate(stopUpdate, { updateId: 'stop' });
}

/**
 * Tells the rental's workflow of a committed change and waits for its answer. The id of the update is the change's, so a
 * repetition gets the first answer.
 * @throws WorkflowUpdateFailedError around an ApplicationFailure whose type is the code of a refusal
 */
export async function awaitChange(
  workflows: WorkflowClient,
  rentalId: RentalId,
  changeId: ChangeId,
  answerBefore: Date,
): Promise<void> {
  await workflows.getHandle(rentalId).executeUpdate(changeUpdate, {
    updateId: changeId,
    args: [{ changeId, answerBefore: answerBefore.toISOString() }],
  });
}
