import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { operationLimits } from '../domain/operations/limits.js';
import type { ReconcileInput, ReconcileReport, ReconcileSource } from '../domain/operations/reconcile.js';
import { bookkeeping, comparing } from './activity-proxies.js';
import { entityStatusAttribute } from './contracts/search-attributes.js';

/**
 * Compares our books with the processor's and the upstreams' (decision 62, "Comparison of the books"). Each source is
 * compared by itself: a source that fails is noted as not compared, and keeps no other from it.
 */
export async function reconcile(input: ReconcileInput): Promise<ReconcileReport> {
  const {
    scope,
    graceMs = operationLimits.reconcileGraceMs,
    confirmMs = operationLimits.reconcileConfirmMs,
  } = input;
  const { runId, sources } = await bookkeeping.beginReconcile(scope);
  setCurrentDetails(`Run ${runId} compares ${sources.join(', ')}; see the pending activities' heartbeats.`);
  const compareOne = async (source: ReconcileSource): Promise<string> => {
    try {
      const { found, why } = await comparing.compareSource({ runId, source, scope, graceMs, confirmMs });
      return why === null ? `${source}: ${found} found` : `${source}: not compared (${why})`;
    } catch (error) {
      await bookkeeping.noteUncompared(source, `the comparison failed: ${causeOf(error)}`);
      return `${source}: failed`;
    }
  };
  const outcomes = await Promise.all(sources.map(compareOne));
  const report = await bookkeeping.finishReconcile(runId, sources);
  setCurrentDetails(
    `Run ${runId}, ${scope}. ${outcomes.join('; ')}. ${report.open} open, ${report.acknowledged} acknowledged.`,
  );
  upsertSearchAttributes([
    {
      key: entityStatusAttribute,
      value: report.open > 0 ? 'findings' : report.notCompared > 0 ? 'gaps' : 'agrees',
    },
  ]);
  return report;
}

/** Returns the text of the cause that an activity's failure wraps. */
function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return String(cause ?? error);
}
