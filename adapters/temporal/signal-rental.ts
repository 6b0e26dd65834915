import type { WorkflowClient } from '@temporalio/client';
import type { RentalId } from '../../domain/ids.js';
import { lookSignalName, rentalWorkflow } from '../../domain/rentals/rental.js';
import { taskQueues } from '../../domain/task-queues.js';

/** Lets a rental's workflow look at its row again, starting it when none runs (design: Temporal 1). */
export async function signalRental(workflows: WorkflowClient, rentalId: RentalId): Promise<void> {
  await workflows.signalWithStart(rentalWorkflow, {
    workflowId: rentalId,
    taskQueue: taskQueues.rentals,
    args: [{ rentalId }],
    staticSummary: 'A rental that is taken up again from its row',
    signal: lookSignalName,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  });
}
