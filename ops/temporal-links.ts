import type { TemporalPlace } from './context.js';
import { withTemporalSoon } from '../adapters/temporal/command.js';
import { findRunAt } from '../adapters/temporal/runs.js';

/** How long Temporal may take to name the run: a link without it serves as well. */
const LOOK_MS = 2_000;

export interface WorkflowLink {
  readonly workflowId: string;
  /** Null when Temporal did not answer, or has forgotten the run: it keeps closed ones for a day. */
  readonly runId: string | null;
  readonly url: string;
}

/** The page of a workflow in the Temporal UI; without a run, the page of its newest one. */
export function linkTo({ uiUrl, namespace }: TemporalPlace, workflowId: string, runId?: string): string {
  const page = `${uiUrl.replace(/\/$/, '')}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`;
  return runId === undefined ? page : `${page}/${runId}/history`;
}

/** Links to workflows, each to the run at an instant, as far as Temporal answers. */
export async function linksAt(
  place: TemporalPlace,
  workflowIds: readonly string[],
  at: Date,
): Promise<WorkflowLink[]> {
  const runs = await findRuns(place, workflowIds, at);
  return workflowIds.map((workflowId) => {
    const runId = runs.get(workflowId);
    return { workflowId, runId: runId ?? null, url: linkTo(place, workflowId, runId) };
  });
}

async function findRuns(
  place: TemporalPlace,
  workflowIds: readonly string[],
  at: Date,
): Promise<Map<string, string>> {
  const runs = new Map<string, string>();
  try {
    await withTemporalSoon(place, LOOK_MS, async ({ workflow }) => {
      for (const workflowId of workflowIds) {
        const runId = await findRunAt(workflow, workflowId, at);
        if (runId !== undefined) runs.set(workflowId, runId);
      }
    });
  } catch {
    // Temporal is away: the links have no runs, and a reader who follows one sees that.
  }
  return runs;
}
