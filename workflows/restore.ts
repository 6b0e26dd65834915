import { setCurrentDetails } from '@temporalio/workflow';
import { restoring } from './activity-proxies.js';
import { openingOf } from './early-answer.js';
import type { RestoreInput, RestoreOutcome } from './restore-contract.js';

/**
 * Reconciles a restored database with what Temporal, the processor and the upstreams know (decisions 37, 67), and lets
 * the service go on. Each step may run again; metering resumes last, because it would end rentals whose owners'
 * payments are still missing.
 */
export async function restore({ reconcile }: RestoreInput): Promise<RestoreOutcome> {
  setCurrentDetails('Compares the database with Temporal, the processor and the upstreams.');
  const report = await restoring.examineRestore();
  if (reconcile === undefined) return { outcome: 'looked', report };
  if (report.database === 'confirmed') return { outcome: 'nothing to do', report };
  if (report.silentUpstreams.length > 0 && !reconcile.withoutSilentUpstreams) {
    return { outcome: 'refused', message: silent(report.silentUpstreams), report };
  }
  const { raisedAt, missingPayments } = report;
  setCurrentDetails(`Reconciles as ordered: ops orders show ${reconcile.operationId}.`);
  const ended = await openingOf(restoring.endClosedRentals(report.ended, reconcile.operationId));
  if (ended.kind === 'refused') return { outcome: 'refused', message: ended.failure.message, report };
  const endedRentals = ended.value;
  const { credited, parked } = await restoring.rebuildPayments({ raisedAt, missingPayments });
  const done = { endedRentals, credited, parked, listedPods: report.unknownPods.length };
  const watermark = await restoring.resumeAfterRestore(reconcile, report, done);
  return { outcome: 'reconciled', report, reconciled: { ...done, watermark } };
}

function silent(codes: readonly string[]): string {
  return `No answer from ${codes.join(', ')}: its machines can't be listed. Try again, or say --without-silent-upstreams.`;
}
