import type { Evidence } from './evidence.js';

/**
 * Decision 62, "Comparison of the books": when nothing is disturbed any more, the service itself finds that its books are
 * the processor's and the upstreams'. What stands is a machine that its upstream does not end.
 */
export async function judgeFindings({ ask, machines }: Evidence): Promise<string[]> {
  const findings = await ask<{ kind: string; subject: string; pod: string | null; evidence: unknown }>(
    `select kind, subject, subject_ids->>'podId' as pod, evidence from reconcile_findings
      where state <> 'resolved' order by id`,
  );
  const stubborn = new Set(machines.filter((one) => one.isStubborn).map(({ podId }) => podId));
  return findings
    .filter(({ kind, pod }) => kind !== 'pod_not_ending' || !stubborn.has(pod ?? ''))
    .map(({ kind, subject, evidence }) => `${kind} of ${subject} stands: ${JSON.stringify(evidence)}`);
}
