import { setCurrentDetails } from '@temporalio/workflow';
import { restoring } from './activity-proxies.js';
import { earlyAnswerOf } from './early-answer.js';
import type { RestoreReport } from '../domain/operations/restore.js';
import type { RestoreInput, RestoreOutcome } from './contracts/restore.js';

/**
 * Reconciles a restored database with what Temporal, the processor and the upstreams know (decision 37, "Brakes and the
 * watermark", and decision 67, "Restored databases"), and lets the service go on. Each step may run again; metering
 * resumes last, because it would end rentals whose owners' payments are still missing.
 */
export async function restore({ reconcile }: RestoreInput): Promise<RestoreOutcome> {
  setCurrentDetails('Compares the database with Temporal, the processor and the upstreams.');
  const report = await restoring.examineRestore({ inRows: true });
  if (reconcile === undefined) return { outcome: 'looked', report };
  if (report.database === 'confirmed') return { outcome: 'nothing to do', report };
  if (report.silentUpstreams.length > 0 && !reconcile.withoutSilentUpstreams) {
    return { outcome: 'refused', message: silent(report.silentUpstreams), report };
  }
  setCurrentDetails(`Reconciles as ordered: ops orders show ${reconcile.operationId}.`);
  const { end, rebuild } = stepsAfter(report, reconcile);
  const ended = await earlyAnswerOf(end());
  if (ended.kind === 'refused') return { outcome: 'refused', message: ended.failure.message, report };
  const rebuilt = await rebuild();
  const { endedRentals, undone } = outcomeOf(ended.value, rebuilt);
  if (undone.length > 0 && reconcile.leaveUndone !== true) {
    return { outcome: 'incomplete', message: incomplete(undone), undone, report };
  }
  const { credited, parked, more } = rebuilt;
  const counted = { endedRentals, credited, parked, ...(more && { more }), listedPods: podsOf(report) };
  const done = undone.length > 0 ? { ...counted, undone } : counted;
  const watermark = await restoring.resumeAfterRestore(reconcile, report, done);
  return { outcome: 'reconciled', report, reconciled: { ...done, watermark } };
}

/** The steps that change something. A run that began before release 0.3 was told all items, and has no rows of them. */
function stepsAfter(
  { runId, raisedAt, ended, limits, missingPayments }: RestoreReport,
  { operationId }: NonNullable<RestoreInput['reconcile']>,
) {
  if (runId === undefined) {
    return {
      end: () => restoring.endClosedRentals(ended, operationId, limits),
      rebuild: () => restoring.rebuildPayments({ raisedAt, missingPayments }),
    };
  }
  return {
    end: () => restoring.endClosedRentals(runId, operationId),
    rebuild: () => restoring.rebuildPayments({ raisedAt, runId }),
  };
}

function podsOf({ unknownPods, more }: RestoreReport): number {
  return unknownPods.length + (more?.unknownPods ?? 0);
}

type Ended = Awaited<ReturnType<typeof restoring.endClosedRentals>>;
type Rebuilt = Awaited<ReturnType<typeof restoring.rebuildPayments>>;

/**
 * Builds the outcome. A run that began before items failed by themselves was told a number, and nothing of what was
 * undone.
 */
function outcomeOf(
  ended: Ended | number,
  rebuilt: Omit<Rebuilt, 'undone'> & Partial<Rebuilt>,
): { endedRentals: number; undone: string[] } {
  const of = typeof ended === 'number' ? { ended, undone: [] } : ended;
  return { endedRentals: of.ended, undone: [...of.undone, ...(rebuilt.undone ?? [])] };
}

function incomplete(undone: readonly string[]): string {
  return `${undone.length} could not be done, and the service does NOT go on: ${undone.join(', ')}. The rest is done. The worker's log says why: mend it and run the command again, or say --leave-undone.`;
}

function silent(codes: readonly string[]): string {
  return `No answer from ${codes.join(', ')}: its machines can't be listed. Try again, or say --without-silent-upstreams.`;
}
