import { findAttempt } from '../../adapters/postgres/machines/attempts.js';
import type { AwaitedRental } from '../../adapters/postgres/machines/awaited-rentals.js';
import { readFaults, recordBadMachine } from '../../adapters/postgres/machines/proofs.js';
import { leaveMachine } from '../../money/rentals/pod-adoption.js';
import { refuseWhenRestored } from '../ask-first.js';
import type { ActivityDeps } from '../deps.js';

/** A machine that was waited for and will not do. */
export interface Failed {
  readonly kind: 'failed';
  /** For its renter. */
  readonly error: string;
  /** It was bad and is given up, and its rental may have another one. */
  readonly isLeft?: true;
}

/**
 * Ends a machine that is not what was rented, and lets its rental look for another (decision 179, "Next machine after
 * bad"). Its upstream is asked before the rental is free for another one: whoever dies in between finds the machine bad
 * again, and ends it again. A script of the renter runs as root beside ours and may tell what it likes, so own software
 * gets another machine once.
 * @param faults what is wrong, in sentences for its renter
 */
export async function leaveBadMachine(
  deps: ActivityDeps,
  rental: AwaitedRental,
  faults: readonly string[],
): Promise<Failed> {
  const { rentalId, tag, providerCode, software } = rental;
  await refuseWhenRestored(deps);
  const error = wordsOfBad(faults);
  const isLast = software !== null && (await readFaults(deps.db, rentalId, tag)) !== undefined;
  const confirmed = software === null && deps.providers.get(providerCode)?.proof === 'machine';
  const finding = { rentalId, tag, faults: [...faults], outcome: 'not_billed' as const, confirmed };
  if (isLast) {
    await recordBadMachine(deps.db, finding);
    return { kind: 'failed', error };
  }
  await askOnceForEnd(deps, rental);
  await leaveMachine(deps.db, finding, { error, failedBy: software === null ? 'upstream' : 'us' });
  return { kind: 'failed', error, isLeft: true };
}

/** Says what is wrong with a machine, for its renter. */
export function wordsOfBad(faults: readonly string[]): string {
  return `The machine is not what you rented. ${faults.join(' ')}`;
}

/** Asks for the end once. The sweeper asks until the machine is gone (decision 22, "Machines of nobody"). */
async function askOnceForEnd({ db, providers, log }: ActivityDeps, rental: AwaitedRental): Promise<void> {
  const { tag, providerCode } = rental;
  const podId = (await findAttempt(db, tag))?.pod_id ?? null;
  if (podId === null) return;
  try {
    await providers.get(providerCode)?.terminate(podId);
  } catch (failure) {
    log.warn({ tag, podId, err: failure }, 'could not end a bad machine yet; the sweeper goes on');
  }
}
