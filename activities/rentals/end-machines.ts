import { listAttempts } from '../../adapters/postgres/machines/attempts.js';
import { expectPod, recordSeenAlive } from '../../adapters/postgres/machines/pods.js';
import type { AllocationAttemptRow } from '../../adapters/postgres/rows/tables.js';
import { ProviderError } from '../../adapters/providers/provider.js';
import type { RentalId } from '../../domain/ids.js';
import type { ActivityDeps } from '../deps.js';

/**
 * Ends every machine that was bought for a rental and may still run, whatever its workflow waits for.
 * @param end how one ends; default: its upstream is asked
 * @returns what came of each, in words for operators
 */
export async function endMachines(
  deps: ActivityDeps,
  rentalId: RentalId,
  end: (deps: ActivityDeps, attempt: AllocationAttemptRow) => Promise<string> = endNow,
): Promise<{ readonly machines: number; readonly told: string }> {
  const told: string[] = [];
  for (const attempt of await listAttempts(deps.db, rentalId)) {
    if (attempt.state === 'failed' || attempt.state === 'gone') continue;
    told.push(await end(deps, attempt));
  }
  return { machines: told.length, told: told.join('; ') };
}

/**
 * Asks for the end of one attempt's machine. An upstream that can't be asked keeps no other from it: the rental's
 * workflow goes on asking.
 */
async function endNow(deps: ActivityDeps, attempt: AllocationAttemptRow): Promise<string> {
  const { provider_code: code, tag } = attempt;
  const provider = deps.providers.get(code);
  if (!provider)
    return `${code} is not configured: end ${tag} there by hand, then force-terminate with --accept-gone`;
  try {
    const podId = attempt.pod_id ?? (await provider.find(tag))?.podId;
    if (podId === undefined) return `${code} shows nothing under ${tag}`;
    await expectPod(deps.db, { providerCode: code, podId, tag });
    await recordSeenAlive(deps.db, code, podId);
    await provider.terminate(podId);
    return `${code} ${podId} was told to end`;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return `${code} ${attempt.pod_id ?? tag} could not be told: ${error.message}`.slice(0, 300);
  }
}
