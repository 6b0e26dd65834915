import { hashOfMachineToken, machineTokenOf } from '../../adapters/machine-bundles.js';
import { insertMachineToken } from '../../adapters/postgres/machines/machine-tokens.js';
import type { AllocationAttemptRow } from '../../adapters/postgres/rows/tables.js';
import type { ReportTarget } from '../../adapters/providers/proof-script.js';
import type { Provider } from '../../adapters/providers/provider.js';
import type { ActivityDeps } from '../deps.js';

/**
 * Gives the machine of an attempt a way to tell how its GPUs are (decision 174, "Proof of machines"). A purchase that is
 * repeated gives the same.
 * @returns undefined where nobody hears it, or nothing of ours runs there
 */
export async function reportTargetOf(
  { db, settings }: Pick<ActivityDeps, 'db' | 'settings'>,
  { proof }: Pick<Provider, 'proof'>,
  attempt: AllocationAttemptRow,
): Promise<ReportTarget | undefined> {
  const { machineUrl, installationKey = '' } = settings;
  if (!machineUrl || proof === undefined) return undefined;
  const token = machineTokenOf(installationKey, 'report', attempt.tag);
  const hash = hashOfMachineToken(token);
  await insertMachineToken(db, { hash, attemptId: attempt.id, purpose: 'report', sealed: null });
  return { url: `${machineUrl}/v1/machine/reports`, token };
}
