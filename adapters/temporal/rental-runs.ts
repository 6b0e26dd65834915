import { WorkflowNotFoundError, type WorkflowClient, type WorkflowExecutionInfo } from '@temporalio/client';
import type { RentalId } from '../../domain/ids.js';
import type { LostRental } from '../../domain/operations/restore.js';
import { rentalWorkflow } from '../../workflows/contracts/rental.js';
import { pricePerHourAttribute, userIdAttribute } from '../../workflows/contracts/search-attributes.js';
import { listRunning } from './runs.js';

/** Lists the ids of the rentals whose workflow runs. One that began a moment ago may be missing. */
export function listRunningRentals(workflows: WorkflowClient): Promise<ReadonlySet<string>> {
  return listRunning(workflows, [rentalWorkflow]);
}

/** Returns when a rental's last run ended; `open` while it runs, undefined when Temporal knows of none (any more). */
export async function findRunEnd(
  workflows: WorkflowClient,
  id: RentalId,
): Promise<Date | 'open' | undefined> {
  try {
    const { closeTime } = await workflows.getHandle(id).describe();
    return closeTime ?? 'open';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** Lists rentals whose workflow has run since an instant and that were opened: a refused one has no price. */
export async function listRentalRunsSince(workflows: WorkflowClient, since: Date): Promise<LostRental[]> {
  const query = `WorkflowType = '${rentalWorkflow.type}' AND StartTime > '${since.toISOString()}'`;
  const runs = new Map<string, LostRental>();
  for await (const execution of workflows.list({ query })) {
    const price = priceOf(execution);
    // The newest run comes first.
    if (price === null || runs.has(execution.workflowId)) continue;
    runs.set(execution.workflowId, {
      rentalId: execution.workflowId,
      userId: execution.typedSearchAttributes.get(userIdAttribute) ?? 'unknown',
      startedAt: execution.startTime.toISOString(),
      endedAt: execution.closeTime?.toISOString() ?? null,
      pricePerHourCents: price,
    });
  }
  return [...runs.values()];
}

function priceOf({ typedSearchAttributes }: WorkflowExecutionInfo): number | null {
  return typedSearchAttributes.get(pricePerHourAttribute) ?? null;
}
