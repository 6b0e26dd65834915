import type { WorkflowClient } from '@temporalio/client';
import {
  processorEventSignalName,
  userOfAutoTopup,
  type EventRoute,
} from '../../domain/payments/processor-routes.js';
import { taskQueues } from '../../domain/task-queues.js';

/**
 * Tells a workflow that an event of the processor about it was stored, or that its row waits. One that has ended is
 * started again, and looks at its row before anything else (design: Temporal 1).
 */
export async function signalWorkflow(workflows: WorkflowClient, route: EventRoute): Promise<void> {
  const { workflow, workflowId } = route;
  await workflows.signalWithStart(workflow, {
    workflowId,
    taskQueue: taskQueues.rentals,
    args: [inputOf(route)],
    staticSummary: summaries[workflow],
    signal: processorEventSignalName,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  });
}

/** What operators read of a workflow before anything of its row. */
const summaries: Record<EventRoute['workflow'], string> = {
  topup: 'A top-up by page or saved card',
  autoTopup: 'Charges the saved card when the balance falls below the threshold',
  invoice: 'An invoice: opens it, reminds of it, and follows its payment',
  payment: 'A payment that names a user and none of his top-ups',
  card: 'A saved card',
  refund: 'A refund at the processor',
  dispute: 'A dispute at the processor',
};

/** What each is started with when it does not run. */
function inputOf({ workflow, workflowId }: EventRoute): object {
  switch (workflow) {
    case 'topup':
      return { topupId: workflowId };
    case 'autoTopup':
      return { userId: userOfAutoTopup(workflowId) };
    case 'invoice':
      return { invoiceId: workflowId };
    case 'payment':
    case 'card':
    case 'refund':
    case 'dispute':
      return { id: workflowId };
  }
}
