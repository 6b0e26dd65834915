import type { WorkflowClient } from '@temporalio/client';
import type { WorkflowContract } from '../../workflows/contracts/workflow-contract.js';

/** Lists the ids of running workflows of some kinds. One that began a moment ago may be missing. */
export async function listRunning(
  workflows: WorkflowClient,
  contracts: readonly WorkflowContract[],
): Promise<ReadonlySet<string>> {
  const types = contracts.map(({ type }) => `'${type}'`).join(', ');
  const query = `ExecutionStatus = 'Running' AND WorkflowType IN (${types})`;
  const ids = new Set<string>();
  for await (const execution of workflows.list({ query })) ids.add(execution.workflowId);
  return ids;
}

/**
 * Finds the newest run of a workflow that had begun by an instant.
 * @returns its id; undefined when Temporal knows of none (any more)
 */
export async function findRunAt(
  workflows: WorkflowClient,
  workflowId: string,
  at: Date,
): Promise<string | undefined> {
  const quoted = workflowId.replaceAll("'", "''");
  // A moment later: the entry is committed after the run has begun, by another clock.
  const until = new Date(at.getTime() + 1_000).toISOString();
  const query = `WorkflowId = '${quoted}' AND StartTime <= '${until}'`;
  let newest: { runId: string; startTime: Date } | undefined;
  for await (const run of workflows.list({ query, pageSize: 100 })) {
    if (!newest || run.startTime > newest.startTime) newest = run;
  }
  return newest?.runId;
}
