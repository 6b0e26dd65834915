import type { TemporalPlace } from './context.js';
import { withTemporalSoon } from '../adapters/temporal/command.js';
import { findRunAt } from '../adapters/temporal/runs.js';

/** How long Temporal may take to tell which run it was: a link without it does as well. */
const LOOK_MS = 2_000;

export interface WorkflowLink {
  readonly workflowId: string;
  /** Null when Temporal could not be asked, or has forgotten the run: it keeps closed ones for a day. */
  readonly runId: string | null;
  readonly url: string;
}

/** The page of a workflow in the Temporal UI; without a run, that of its newest one. */
export function linkTo({ uiUrl, namespace }: TemporalPlace, workflowId: string, runId?: string): string {
  const page = `${uiUrl.replace(/\/$/, '')}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`;
  return runId === undefined ? page : `${page}/${runId}/history`;
}

/** Links to workflows, each to the run that was there at an instant, as far as Temporal can be asked. */
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
    // Temporal is away: the links stay without runs, and whoever follows one sees that.
  }
  return runs;
}
