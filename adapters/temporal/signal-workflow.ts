import { WorkflowNotFoundError, type WorkflowClient } from '@temporalio/client';
import { isId, type RentalId } from '../../domain/ids.js';
import type { EventRoute } from '../../domain/payments/processor-routes.js';
import { lookingWorkflows } from '../../workflows/contracts/index.js';
import { lookSignal, processorEventSignal } from '../../workflows/contracts/signals.js';
import { startOptions } from './start-workflow.js';

/** A workflow that looks at its row when it is signalled. */
export type LookRoute =
  EventRoute | { readonly workflow: 'rental' | 'webhook' | 'closing'; readonly workflowId: string };

/**
 * Lets a workflow look at its row again: an event of the processor about it was stored, or the row waits. A workflow
 * that has ended is started again, and looks at its row before anything else (design: Temporal 1).
 * @throws Error when the id is none of such a workflow, and the errors of Temporal's client
 */
export async function signalWorkflow(
  workflows: WorkflowClient,
  { workflow, workflowId }: LookRoute,
): Promise<void> {
  const contract = lookingWorkflows[workflow];
  await workflows.signalWithStart(contract.type, {
    ...startOptions(contract.takeUp(workflowId)),
    signal: contract.signal,
  });
}

/** Lets a rental's workflow look at its row again, starting it when none runs. */
export function signalRental(workflows: WorkflowClient, rentalId: RentalId): Promise<void> {
  return signalWorkflow(workflows, { workflow: 'rental', workflowId: rentalId });
}

/** Lets the running workflows of these ids look at once. The loops start those that have no run. */
export async function signalRunning(workflows: WorkflowClient, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const isLooking = isId('rent', id) || isId('op', id);
    try {
      await workflows.getHandle(id).signal(isLooking ? lookSignal : processorEventSignal);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }
}
