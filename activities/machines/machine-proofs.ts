import { listUnjudged, recordVerdicts } from '../../adapters/postgres/machines/proofs.js';
import type { ListenerLook } from '../../adapters/machine-listener.js';
import type { AwaitedRental } from '../../adapters/postgres/machines/awaited-rentals.js';
import type { Provider } from '../../adapters/providers/provider.js';
import { machineLimits } from '../../domain/machines/limits.js';
import { judgeProof } from '../../domain/machines/proof.js';
import type { ActivityDeps } from '../deps.js';

/** One round judges so many reports: the next one goes on. */
const MOST_AT_ONCE = 500;

/**
 * Judges what a machine told before it was ready: until then nobody but us has run anything on it, or their own script at
 * most, and nothing is billed.
 * @returns what is wrong, in sentences for its renter; none where nothing is
 */
export function findFaults({ log }: Pick<ActivityDeps, 'log'>, rental: AwaitedRental): readonly string[] {
  if (rental.proof === null) return [];
  const { verdict, faults } = judgeProof(rental.proof, rental);
  if (verdict !== 'bad') return [];
  const { rentalId, tag, providerCode } = rental;
  log.warn({ rentalId, tag, provider: providerCode, faults }, 'a machine is not what was rented');
  return faults;
}

/**
 * Tells whether a machine that is ready may still tell how its GPUs are: it has a moment for it, unless nobody would hear
 * it.
 * @param readyMs since when it was seen ready, in milliseconds: a script may begin long after its upstream runs the machine
 */
export async function mayStillTell(
  { providers }: Pick<ActivityDeps, 'providers'>,
  listener: ListenerLook,
  { proof, canReport, providerCode }: Pick<AwaitedRental, 'proof' | 'canReport' | 'providerCode'>,
  readyMs: number,
): Promise<boolean> {
  if (proof !== null || !canReport || providers.get(providerCode)?.proof !== 'machine') return false;
  return readyMs < machineLimits.proofWaitMs && listener.isHeard();
}

/**
 * Judges what the running machines of an upstream told since. What they say may be their renters' word.
 * @returns how many rentals are to end
 */
export async function judgeReports(deps: ActivityDeps, { code, proof }: Provider): Promise<number> {
  if (proof === undefined) return 0;
  const reports = await listUnjudged(deps.db, code, MOST_AT_ONCE);
  if (reports.length === 0) return 0;
  const judged = reports.map((report) => ({ ...report, verdict: judgeProof(report.body, report).verdict }));
  return recordVerdicts(deps.db, judged);
}
