import { told, type Evidence } from './evidence.js';

/** What the service compares its books with: the processor's lists, its own ledger, and each upstream. */
const sources = ['charges', 'reversals', 'invoices', 'ledger', 'pods:north', 'pods:south'];

/**
 * Decision 62, "Comparison of the books": when nothing is disturbed any more, the service itself finds that its books are
 * the processor's and the upstreams'. What stands is a machine that its upstream does not end.
 */
export async function judgeFindings({ ask, machines, calmSinceMs }: Evidence): Promise<string[]> {
  const compared = await ask<{ source: string }>(
    `select source from reconcile_sources
      where failing_since is null and compared_until > to_timestamp($1::float8 / 1000)`,
    [calmSinceMs],
  );
  const known = new Set(compared.map(({ source }) => source));
  const findings = await ask<{ kind: string; subject: string; pod: string | null; evidence: unknown }>(
    `select kind, subject, subject_ids->>'podId' as pod, evidence from reconcile_findings
      where state <> 'resolved' order by id`,
  );
  const stubborn = new Set(machines.filter((one) => one.isStubborn).map(({ podId }) => podId));
  return [
    ...sources.flatMap((source) => told(!known.has(source), `${source} was not compared since all is calm`)),
    ...findings
      .filter(({ kind, pod }) => kind !== 'pod_not_ending' || !stubborn.has(pod ?? ''))
      .map(({ kind, subject, evidence }) => `${kind} of ${subject} stands: ${JSON.stringify(evidence)}`),
  ];
}
