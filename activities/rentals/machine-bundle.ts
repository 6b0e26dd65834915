import { hashOfMachineToken, machineTokenOf, sealBundle } from '../../adapters/machine-bundles.js';
import { insertMachineToken } from '../../adapters/postgres/machines/machine-tokens.js';
import type { AllocationAttemptRow } from '../../adapters/postgres/rows/tables.js';
import { bootstrapLines } from '../../adapters/providers/bootstrap.js';
import type { Provider } from '../../adapters/providers/provider.js';
import { fetchedScript } from '../../adapters/providers/startup-script.js';
import { isFetched, type Software } from '../../domain/rentals/software.js';
import type { ActivityDeps } from '../deps.js';

/**
 * Lays down what the machine of an attempt will fetch (decision 173, "The bootstrap"), if it is to fetch its start script.
 * A purchase that is repeated lays down the same.
 * @returns the lines that fetch it; undefined: the script goes to the upstream
 */
export async function layDownBundle(
  { db, settings }: Pick<ActivityDeps, 'db' | 'settings'>,
  provider: Pick<Provider, 'software' | 'tellsRestarts'>,
  attempt: AllocationAttemptRow,
  software: Software | undefined,
): Promise<string[] | undefined> {
  const { machineUrl, installationKey = '' } = settings;
  if (!machineUrl || !software || !isFetched(software, provider.software)) return undefined;
  const token = machineTokenOf(installationKey, 'bundle', attempt.tag);
  const sealed = sealBundle(token, fetchedScript(software, provider.software?.image));
  const hash = hashOfMachineToken(token);
  // Beside a template a script runs at the first start alone.
  const isKept = provider.tellsRestarts === true && software.image !== null;
  await insertMachineToken(db, { hash, attemptId: attempt.id, purpose: 'bundle', sealed, isKept });
  return bootstrapLines(machineUrl, token);
}
