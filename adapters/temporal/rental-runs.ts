import type { WorkflowClient, WorkflowExecutionInfo } from '@temporalio/client';
import type { LostRental } from '../../domain/operations/restore.js';
import { rentalWorkflow } from '../../workflows/contracts/rental.js';
import { pricePerHourAttribute, userIdAttribute } from '../../workflows/contracts/search-attributes.js';

/**
 * Lists rentals whose workflow has run since an instant and that were opened: a refused one has no price.
 * @param tell called after each: the list gets on
 */
export async function listRentalRunsSince(
  workflows: WorkflowClient,
  since: Date,
  tell: () => void,
): Promise<LostRental[]> {
  const query = `WorkflowType = '${rentalWorkflow.type}' AND StartTime > '${since.toISOString()}'`;
  const runs = new Map<string, LostRental>();
  for await (const execution of workflows.list({ query })) {
    tell();
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
