import { WorkflowNotFoundError, type WorkflowClient, type WorkflowExecutionInfo } from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { RentalId } from '../../domain/ids.js';
import type { LostRental } from '../../domain/operations/restore.js';

const userId = defineSearchAttributeKey('UserId', 'KEYWORD');
const pricePerHour = defineSearchAttributeKey('PricePerHourCents', 'INT');

/** Ids of the rentals whose workflow runs. One that began a moment ago may be missing. */
export async function listRunningRentals(workflows: WorkflowClient): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  const query = `ExecutionStatus = 'Running' AND WorkflowType = 'rental'`;
  for await (const execution of workflows.list({ query })) ids.add(execution.workflowId);
  return ids;
}

/** When a rental's last run ended; `open` while it runs, undefined when Temporal knows of none (any more). */
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

/** Rentals whose workflow has run since an instant and that were opened: one that was refused has no price. */
export async function listRentalRunsSince(workflows: WorkflowClient, since: Date): Promise<LostRental[]> {
  const query = `WorkflowType = 'rental' AND StartTime > '${since.toISOString()}'`;
  const runs = new Map<string, LostRental>();
  for await (const execution of workflows.list({ query })) {
    const price = priceOf(execution);
    // The newest run comes first.
    if (price === null || runs.has(execution.workflowId)) continue;
    runs.set(execution.workflowId, {
      rentalId: execution.workflowId,
      userId: execution.typedSearchAttributes.get(userId) ?? 'unknown',
      startedAt: execution.startTime.toISOString(),
      endedAt: execution.closeTime?.toISOString() ?? null,
      pricePerHourCents: price,
    });
  }
  return [...runs.values()];
}

function priceOf({ typedSearchAttributes }: WorkflowExecutionInfo): number | null {
  return typedSearchAttributes.get(pricePerHour) ?? null;
}
