import { listPaidPods, noteEndBy } from '../adapters/postgres/paid-until.js';
import { isDatabaseConfirmed } from '../adapters/postgres/watermark.js';
import { ProviderError, type Provider } from '../adapters/providers/provider.js';
import { endByOf, mustRenew } from '../domain/dead-mans-switch.js';
import type { ActivityDeps } from './deps.js';

/** A renewal is not urgent: so many in one round, the rest in the next. */
const RENEWED_AT_ONCE = 10;

/**
 * Renews the date at which the upstream itself ends each running machine, to what its wallet can pay for now. Only a
 * date that is off by much is renewed; machines whose upstream has no such switch are left alone.
 * @throws ProviderError when the upstream does not answer; what was renewed stays
 */
export async function renewEnds(
  { db }: Pick<ActivityDeps, 'db'>,
  provider: Provider,
  onRenewed: () => void = () => undefined,
): Promise<void> {
  // What a restored database knows of wallets is too old to date a machine's end by.
  if (!provider.endBy || !(await isDatabaseConfirmed(db))) return;
  const pods = await listPaidPods(db, provider.code);
  const off = pods
    .map((pod) => ({ ...pod, wanted: endByOf(pod.fundsCents, pod.burnPerHourCents, pod.nowMs) }))
    .filter(({ endBy, wanted, nowMs }) => mustRenew(endBy, wanted, nowMs));
  for (const { podId, attemptId, wanted } of off.slice(0, RENEWED_AT_ONCE)) {
    try {
      await provider.endBy(podId, wanted);
    } catch (error) {
      // A pod that is gone meanwhile has no date; the next list tells.
      if (error instanceof ProviderError && error.details.status === 404) continue;
      throw error;
    }
    await noteEndBy(db, attemptId, wanted);
    onRenewed();
  }
}
