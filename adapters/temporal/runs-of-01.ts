import type { WorkflowClient } from '@temporalio/client';
import { rentalWorkflow } from '../../workflows/contracts/rental.js';
import { retiredTypes } from '../../workflows/contracts/index.js';

/** A run of release 0.2 carries its mark as soon as its rental is open, well within this time of its start. */
const OPENED_WITHIN_MS = 3_600_000;

/**
 * Lists open runs that release 0.1 began and 0.2 has not continued as new: the code of this release can't replay them
 * (decision 135, "Runs of 0.1").
 * @returns their types and ids, at most `limit`
 */
export async function listRunsOf01(
  workflows: WorkflowClient,
  limit: number,
  openedWithinMs = OPENED_WITHIN_MS,
): Promise<string[]> {
  const before = new Date(Date.now() - openedWithinMs).toISOString();
  const retired = retiredTypes.map((type) => `'${type}'`).join(', ');
  const unmarked = `WorkflowType = '${rentalWorkflow.type}' AND TemporalChangeVersion IS NULL AND StartTime < '${before}'`;
  const query = `ExecutionStatus = 'Running' AND (WorkflowType IN (${retired}) OR (${unmarked}))`;
  const found: string[] = [];
  for await (const { type, workflowId } of workflows.list({ query })) {
    if (found.push(`${type} ${workflowId}`) === limit) break;
  }
  return found;
}

/** Says why the service of this release can't start, and what to do. */
export function refusalOfRunsOf01(found: readonly string[]): string {
  return `Runs that release 0.1 began are still open, and this release can't continue them: ${found.join(', ')}. Let release 0.2 end or continue them first (a rental continues within days; ops rentals stop ends it), then upgrade.`;
}
