import { sleep } from '@temporalio/activity';
import { createListenerLook, type ListenerLook } from '../../adapters/machine-listener.js';
import type { AwaitedRental } from '../../adapters/postgres/machines/awaited-rentals.js';
import { recordAnswer } from '../../money/rentals/answered-machines.js';
import type { PodAddress, ReadyMachine } from '../../money/rentals/rentals.js';
import type { RentalId } from '../../domain/ids.js';
import { atMost } from '../../domain/durations.js';
import { machineLimits } from '../../domain/machines/limits.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { softwareLimits } from '../../domain/rentals/software.js';
import { createAwaitBoard } from './await-board.js';
import { leaveBadMachine, type Failed } from './bad-machines.js';
import { findFaults, mayStillTell } from './machine-proofs.js';
import { answersAtPort } from './public-ports.js';
import type { ActivityDeps } from '../deps.js';
import { ONE_CALL_MS, withHeartbeat } from '../heartbeat.js';

/** How the waiting for a pod ended. */
export type PodOutcome =
  /** The address is kept in a row, because hosts do not cross Temporal (decision 89, "Words kept from Temporal"). */
  { readonly kind: 'answered' } | { readonly kind: 'stopped' } | Failed;

/** A third of the time after which this worker counts as dead. */
const HEARTBEAT_MS = 3_000;

/** Waits for machines. Thousands wait at once, so each wait costs next to nothing. */
export function createAwaitPod(deps: ActivityDeps) {
  const pollMs = deps.settings.pollMs ?? machineLimits.pollMs;
  const board = createAwaitBoard(deps.db, pollMs / 20);
  const { listenerLookMs: lookMs, listenerSeenMs: seenMs } = machineLimits;
  const listener = createListenerLook(deps.settings.machineUrl ?? null, { lookMs, seenMs }, (found) =>
    deps.log.warn(
      found,
      'the listener of machines is not reached: no machine is waited for to tell how its GPUs are',
    ),
  );
  return {
    /**
     * Waits until the pod's SSH daemon answers (spec: provisioning, every 2 seconds). It reads what the watcher wrote,
     * together with all others that wait. So a thousand waiting rentals cost the upstream one call and the database a
     * few queries.
     */
    async awaitPod(rentalId: RentalId, deadlineMs: number): Promise<PodOutcome> {
      return withHeartbeat(
        async (tell) => {
          const sight: Sight = {};
          for (;;) {
            const rental = await board.look(rentalId);
            if (rental?.status !== 'provisioning' || rental.stopRequested) return { kind: 'stopped' };
            const outcome = await judge({ ...deps, listener }, rental, deadlineMs, sight);
            if (outcome) return outcome;
            tell({
              upstream: rental.pod?.upstream_status ?? 'not listed yet',
              waitedSeconds: Math.round(rental.waitedMs / 1_000),
            });
            await sleep(pollMs);
          }
        },
        { stalledAfterMs: ONE_CALL_MS, everyMs: HEARTBEAT_MS },
      );
    },
  };
}

/**
 * Returns the machine's own deadline in milliseconds, which its offer and its upstream have made (decision 76, "Boot
 * deadlines and fit"). Workflows say the longest limit there is, so only another number is an order. Whoever starts the
 * workflow may be anybody, so an order is shorter, never longer (decision 150, "Words of the API").
 */
function deadlineOf(rental: AwaitedRental, saidMs: number): number {
  const { provisionDeadlineMs } = rentalLimits;
  const askedMs = atMost(saidMs, provisionDeadlineMs);
  return askedMs < provisionDeadlineMs ? askedMs : (rental.deadlineMs ?? provisionDeadlineMs);
}

/**
 * What one wait has seen. It is not kept: a worker that takes the wait over gives a machine that is ready a moment more to
 * tell how it is, which nobody is billed for.
 */
interface Sight {
  /** When its machine was first found ready, by the clock of this process in milliseconds. */
  readySinceMs?: number;
}

/** Judges how the waiting ends; undefined while it goes on. */
async function judge(
  deps: ActivityDeps & { readonly listener: ListenerLook },
  rental: AwaitedRental,
  deadlineMs: number,
  sight: Sight,
): Promise<PodOutcome | undefined> {
  // First: a machine that is bad as well as late is left for another one.
  const faults = findFaults(deps, rental);
  if (faults.length > 0) return leaveBadMachine(deps, rental, faults);
  const late = findDelay(rental, deadlineMs);
  // One that was ready in time has only not told how it is.
  const failed = late && sight.readySinceMs === undefined ? late : findLoss(rental);
  if (failed) return failed;
  const machine = await findReady(deps, rental);
  if (!machine) return late;
  sight.readySinceMs ??= performance.now();
  // Its grace was time enough to tell.
  const isOver = late !== undefined || machine.readyBy === 'grace';
  const readyMs = performance.now() - sight.readySinceMs;
  if (!isOver && (await mayStillTell(deps, deps.listener, rental, readyMs))) return undefined;
  await recordAnswer(deps.db, rental, machine);
  return { kind: 'answered' };
}

/** Finds that a machine is lost: a bad one that was asked to end would be so too. */
function findLoss(rental: AwaitedRental): PodOutcome | undefined {
  if (!rental.lost) return undefined;
  const word = rental.pod?.upstream_status ?? 'gone';
  return { kind: 'failed', error: `The upstream lost the machine (${word}).` };
}

/** Finds that a machine's deadline has passed, and says so. */
function findDelay(rental: AwaitedRental, deadlineMs: number): PodOutcome | undefined {
  const mostMs = deadlineOf(rental, deadlineMs);
  if (rental.waitedMs <= mostMs || isInGrace(rental)) return undefined;
  const seconds = Math.round(mostMs / 1_000);
  return { kind: 'failed', error: `The machine did not answer within ${seconds} seconds.` };
}

/**
 * Own software that its upstream runs already is billed once its grace is over, however late it came up: what does not
 * answer then is no failure of the machine.
 */
function isInGrace({ software, pod, lost }: AwaitedRental): boolean {
  return software !== null && pod?.status === 'active' && !lost;
}

/** A template is ready once SSH answers; own software by the first of SSH, a public port, or time (decision 155, "Ready or not"). */
async function findReady(deps: ActivityDeps, rental: AwaitedRental): Promise<ReadyMachine | undefined> {
  const { software, pod, activeMs } = rental;
  const address = await findAnsweringAddress(deps, rental);
  if (address) return { address, readyBy: 'ssh' };
  if (software === null || pod?.status !== 'active') return undefined;
  if (await answersAtPort(deps, rental.rentalId, software.ports, pod))
    return { address: null, readyBy: 'port' };
  const graceMs = deps.settings.ownSoftwareGraceMs ?? softwareLimits.graceMs;
  return activeMs !== null && activeMs >= graceMs ? { address: null, readyBy: 'grace' } : undefined;
}

async function findAnsweringAddress(
  deps: ActivityDeps,
  { rentalId, pod, sharesAddress }: AwaitedRental,
): Promise<PodAddress | undefined> {
  if (pod?.status !== 'active' || pod.host === null || pod.port === null) return undefined;
  const { host, port } = pod;
  if (sharesAddress) {
    // Upstreams give addresses out again, sometimes too early: the daemon that answers may be another machine's.
    deps.log.warn({ rentalId, host, port }, 'two machines are shown at one address; waiting on');
    return undefined;
  }
  const target = { host, port, allowPrivate: deps.settings.allowPrivatePods };
  if (!(await deps.prober.probe(target)).answered) return undefined;
  const fingerprint = await deps.prober.hostKey(target);
  return { host, port, username: pod.username ?? 'root', hostKeyFingerprint: fingerprint ?? null };
}
