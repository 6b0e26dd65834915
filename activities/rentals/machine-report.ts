import { hashOfMachineToken, machineTokenOf } from '../../adapters/machine-bundles.js';
import { insertMachineToken } from '../../adapters/postgres/machines/machine-tokens.js';
import type { AllocationAttemptRow } from '../../adapters/postgres/rows/tables.js';
import type { ReportTarget } from '../../adapters/providers/proof-script.js';
import type { Provider } from '../../adapters/providers/provider.js';
import { machineReportsPath, machineUsePath } from '../../domain/machines/calls.js';
import type { ActivityDeps } from '../deps.js';

type Deps = Pick<ActivityDeps, 'db' | 'settings'>;

/**
 * Gives the machine of an attempt a way to tell how its GPUs are (decision 174, "Proof of machines"). A purchase that is
 * repeated gives the same.
 * @returns undefined where nobody hears it, or nothing of ours runs there
 */
export async function reportTargetOf(
  deps: Deps,
  { proof }: Pick<Provider, 'proof'>,
  attempt: AllocationAttemptRow,
): Promise<ReportTarget | undefined> {
  return proof && targetOf(deps, attempt, 'report', machineReportsPath);
}

/**
 * Gives the machine of an attempt a way to tell how much it is used (decision 181, "A reporter of use"), likewise.
 * @returns undefined where nobody hears it, or its upstream tells that
 */
export async function reporterTargetOf(
  deps: Deps,
  { telemetry }: Pick<Provider, 'telemetry'>,
  attempt: AllocationAttemptRow,
): Promise<ReportTarget | undefined> {
  return telemetry?.source === 'reporter' ? targetOf(deps, attempt, 'use', machineUsePath) : undefined;
}

async function targetOf(
  { db, settings: { machineUrl, installationKey = '' } }: Deps,
  attempt: AllocationAttemptRow,
  purpose: 'report' | 'use',
  path: string,
): Promise<ReportTarget | undefined> {
  if (!machineUrl) return undefined;
  const token = machineTokenOf(installationKey, purpose, attempt.tag);
  const hash = hashOfMachineToken(token);
  await insertMachineToken(db, { hash, attemptId: attempt.id, purpose, sealed: null });
  return { url: `${machineUrl}${path}`, token };
}
