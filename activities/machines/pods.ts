import { Context, sleep } from '@temporalio/activity';
import { buyPod, condemn, providersFor, resolveAttempt } from '../rentals/allocation.js';
import { launchInTurn, LOOK_MS } from './launch-in-turn.js';
import { orderTermsOf } from './order-terms.js';
import { adoptPod, replaceTag } from '../../money/rentals/pod-adoption.js';
import { msSince, readClock } from '../../adapters/postgres/clock.js';
import { listAttempts, moveAttempt, recordAttemptPod } from '../../adapters/postgres/machines/attempts.js';
import { wasAsked } from '../../adapters/postgres/machines/queued-attempts.js';
import { findRental, isStopRequested } from '../../money/rentals/rentals.js';
import { findCheapestOffer } from '../../adapters/postgres/catalog/offers.js';
import { knownStarts } from '../../adapters/postgres/catalog/starts.js';
import { listOffersOfBadHosts, readFaults } from '../../adapters/postgres/machines/proofs.js';
import { findIdleGuard } from '../../adapters/postgres/rentals/idle-guards.js';
import { expectPod, findPodOfRental, isShownAsBefore } from '../../adapters/postgres/machines/pods.js';
import type { AllocationAttemptRow, PodRow, RentalRow } from '../../adapters/postgres/rows/tables.js';
import { noteProviderSuccess } from '../../adapters/postgres/catalog/provider-health.js';
import { ProviderError, type Provider } from '../../adapters/providers/provider.js';
import type { RentalId } from '../../domain/ids.js';
import { MINUTE, atMost } from '../../domain/durations.js';
import { machineLimits } from '../../domain/machines/limits.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { keysCharsOf } from '../../domain/rentals/software.js';
import type { PodOutcome } from './await-pod.js';
import { wordsOfBad } from './bad-machines.js';
import type { ActivityDeps } from '../deps.js';
import { refuseWhenRestored } from '../ask-first.js';
import { SEVERAL_CALLS_MS, withHeartbeat, type Tell } from '../heartbeat.js';

/** The activities that get and end pods. They heartbeat, hold no transaction open and move no money. */
export function createPodActivities(deps: ActivityDeps) {
  const pollMs = deps.settings.pollMs ?? machineLimits.pollMs;
  return {
    /**
     * Finds the pod of a rental whose allocation had an unknown outcome, or buys another one at the agreed price or
     * less (decision 21, "Lost upstream answers").
     * @returns null when the rental has a pod now
     */
    async findPod(
      rentalId: RentalId,
      saidMs: number,
    ): Promise<Exclude<PodOutcome, { kind: 'answered' }> | null> {
      const findForMs = atMost(saidMs, rentalLimits.unknownFindMs);
      const passedOver: PassedOver = new Map();
      return withHeartbeat(
        async (tell) => {
          for (;;) {
            await refuseWhenRestored(deps);
            const rental = await findRental(deps.db, rentalId);
            if (rental?.status !== 'provisioning' || rental.pod_id !== null) return null;
            if (await isStopRequested(deps.db, rental.no)) return { kind: 'stopped' };
            const attempts = await listAttempts(deps.db, rentalId);
            const open = attempts.find(({ state }) => state === 'open');
            if (open) {
              if (await getPodOf(deps, rental, open, { findForMs, tell })) return null;
            } else if (attempts.filter(wasAsked).length < rentalLimits.openTries) {
              tell('asking for another machine at the agreed price or less');
              if ((await buyAnother(deps, rental, attempts, passedOver)) === 'nothing on offer')
                return { kind: 'failed', error: await wordsOfNone(deps, rentalId, 'found no other') };
            } else return { kind: 'failed', error: await wordsOfNone(deps, rentalId, 'no try left') };
          }
        },
        { stalledAfterMs: SEVERAL_CALLS_MS },
      );
    },

    /**
     * Ends all pods that were ever bought for a rental, and returns when the upstream's lists show none of them. An
     * answer to a delete is no proof (design: rule 2).
     */
    async endPods(rentalId: RentalId): Promise<void> {
      const answered: Answered = new Map();
      await withHeartbeat(
        async (tell) => {
          for (let round = 1; ; round += 1) {
            await refuseWhenRestored(deps);
            const { left, lastError } = await endOnce(deps, rentalId, answered);
            if (left.length === 0) return;
            tell({ waitingFor: left, round, lastError });
            // The rounds come ever more rarely; the first come as often as the watcher lists.
            await sleep(Math.min(30_000, pollMs * Math.ceil(round / 10)));
            Context.current().cancellationSignal.throwIfAborted();
          }
        },
        { stalledAfterMs: SEVERAL_CALLS_MS },
      );
    },
  };
}

/** Says that no machine was had, and why another one was looked for. */
async function wordsOfNone(
  { db }: ActivityDeps,
  rentalId: RentalId,
  end: 'found no other' | 'no try left',
): Promise<string> {
  const faults = await readFaults(db, rentalId);
  if (faults === undefined) return 'The provider had no machine for you. We returned the hold.';
  const done =
    end === 'no try left'
      ? `We gave up after ${rentalLimits.openTries} tries`
      : 'We found no other machine for you';
  return `${wordsOfBad(faults)} ${done}, and returned the hold.`;
}

/** Takes the next step of an open attempt. @returns whether the rental has its machine */
async function getPodOf(
  deps: ActivityDeps,
  rental: RentalRow,
  attempt: AllocationAttemptRow,
  { findForMs, tell }: { findForMs: number; tell: Tell },
): Promise<boolean> {
  if (attempt.launch_at !== null) {
    tell(`waiting for its turn at ${attempt.provider_code}: ${attempt.tag}`);
    return launchInTurn(deps, rental, attempt);
  }
  tell(`looking for ${attempt.tag} at ${attempt.provider_code}`);
  return findByTag(deps, rental, attempt, findForMs);
}

async function findByTag(
  deps: ActivityDeps,
  rental: RentalRow,
  attempt: AllocationAttemptRow,
  findForMs: number,
): Promise<boolean> {
  const provider = deps.providers.get(attempt.provider_code);
  if (!provider) {
    await moveAttempt(deps.db, attempt.id, 'open', 'condemned', {
      error: 'its provider is not configured',
      failedBy: 'us',
    });
    return false;
  }
  const found = await resolveAttempt(deps, provider, attempt, {
    lookMs: Math.min(findForMs, machineLimits.pollMs),
    maxPricePerHourCents: rental.price_per_hour_cents,
    diskGb: rental.software?.diskGb ?? null,
  });
  if (found.kind === 'bought') {
    await noteProviderSuccess(deps.db, provider.code, 'creating');
    return adoptPod(deps.db, rental, attempt, found.podId);
  }
  if (found.kind === 'none') return false;
  // A machine that is there, and may tell its price only once it runs, has as long as any machine has to come up.
  const forMs = found.listed
    ? Math.max(findForMs, attempt.deadline_ms ?? provider.provisionDeadlineMs)
    : findForMs;
  if ((await msSince(deps.db, attempt.created_at)) >= forMs) {
    const what = found.listed ? 'its price could not be read' : 'nothing was found';
    // A pod that was not found may still appear: the sweeper looks for its tag and ends it.
    await condemn(deps, provider, attempt, found.attempt.pod_id, {
      error: `${what} within ${forMs} ms`,
      failedBy: 'upstream',
    });
  }
  return false;
}

/** Until when others have their turn at upstreams, by this process's clock (performance.now); Infinity: it takes no such order. */
type PassedOver = Map<string, number>;

/** Asks for a machine of the cheapest offer that was not asked for, at an upstream where others do not have their turn. */
async function buyAnother(
  deps: ActivityDeps,
  rental: RentalRow,
  attempts: readonly AllocationAttemptRow[],
  passedOver: PassedOver,
): Promise<'bought' | 'look again' | 'nothing on offer'> {
  const software = rental.software ?? undefined;
  const { template_id: templateId, telemetry } = rental;
  const idleGuard = await findIdleGuard(deps.db, rental.no);
  const asked = attempts.filter(wasAsked);
  const terms = await orderTermsOf(deps, rental);
  const keysChars = keysCharsOf(terms.publicKeys);
  const able = providersFor(deps, { templateId, software, idleGuard, telemetry, keysChars });
  const listing = await findCheapestOffer(
    deps.db,
    {
      familyId: rental.family,
      gpuCount: rental.gpu_count,
      region: rental.region_code,
      providerCodes: able.filter((code) => (passedOver.get(code) ?? 0) <= performance.now()),
      templateId: rental.template_id,
      software,
      maxPricePerHourCents: rental.price_per_hour_cents,
    },
    [...asked.map(({ listing_id }) => listing_id), ...(await listOffersOfBadHosts(deps.db, rental.id))],
    await knownStarts(deps.db),
  );
  if (!listing)
    return (await maySoonHaveTurn(deps, passedOver, waitsSince(rental, attempts)))
      ? 'look again'
      : 'nothing on offer';
  const order = { rentalId: rental.id, listing, software, ...terms };
  const purchase = await buyPod(deps, order);
  if (purchase.kind === 'none') {
    const outMs = purchase.isUnfit ? Infinity : purchase.outOfTurnMs;
    if (outMs !== undefined) passedOver.set(listing.provider_code, performance.now() + outMs);
    return 'look again';
  }
  await replaceTag(deps.db, rental, purchase.attempt);
  if (purchase.kind === 'unknown') return 'look again';
  return (await adoptPod(deps.db, rental, purchase.attempt, purchase.podId)) ? 'bought' : 'look again';
}

/**
 * Tells since when a rental waits for a turn: since the last purchase that was asked for ended, or the first of all began.
 * They are instants of rows, so that a repeated activity does not wait anew.
 */
function waitsSince(rental: RentalRow, attempts: readonly AllocationAttemptRow[]): Date {
  const lastEnd = attempts.filter(wasAsked).at(-1)?.changed_at;
  const begun = [rental.started_at, ...attempts.map((row) => row.created_at)];
  return lastEnd ?? new Date(Math.min(...begun.map(Number)));
}

/**
 * Waits a moment for the turn at an upstream that was passed over, for as long as a purchase waits for its turn.
 * @returns false when there is no turn to wait for, or no time
 */
async function maySoonHaveTurn({ db }: ActivityDeps, passedOver: PassedOver, since: Date): Promise<boolean> {
  const isAwaited = [...passedOver.values()].some((untilMs) => untilMs < Infinity);
  if (!isAwaited || (await msSince(db, since)) >= rentalLimits.queueMs) return false;
  await sleep(LOOK_MS);
  return true;
}

/** When the upstream last answered to the wish that the pod of an attempt shall end, by the attempt's id. */
type Answered = Map<number, { readonly at: Date; readonly atMs: number }>;

/** Asks the upstreams to end every pod of the rental, where it is due. Returns the tags of those that are not proven gone. */
async function endOnce(deps: ActivityDeps, rentalId: RentalId, answered: Answered): Promise<EndRound> {
  const left: string[] = [];
  let lastError: string | null = null;
  for (const attempt of await listAttempts(deps.db, rentalId)) {
    // A condemned attempt without a pod may get one late: the sweeper looks for it.
    if (attempt.state === 'failed' || attempt.state === 'gone') continue;
    if (attempt.state === 'condemned' && attempt.pod_id === null) continue;
    const asked = await askForEnd(deps, attempt, answered);
    if (asked.isGone) continue;
    left.push(attempt.tag);
    lastError = asked.error ?? lastError;
  }
  return { left, lastError };
}

interface EndRound {
  /** The tags of the pods that the lists still show. */
  readonly left: readonly string[];
  /** The upstream's answer where it did not end a pod; operators see it in the heartbeat. */
  readonly lastError: string | null;
}

async function askForEnd(
  deps: ActivityDeps,
  attempt: AllocationAttemptRow,
  answered: Answered,
): Promise<{ isGone: boolean; error?: string }> {
  const provider = deps.providers.get(attempt.provider_code);
  if (!provider) return { isGone: false, error: `${attempt.provider_code} is not configured` };
  try {
    return { isGone: await endPodOf(deps, provider, attempt, answered) };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    deps.log.warn({ tag: attempt.tag, err: error }, 'could not end a pod yet; trying again');
    return { isGone: false, error: error.briefly };
  }
}

/** Asks for the end of an attempt's pod, unless it is gone or that is not due. Returns whether it is gone. */
async function endPodOf(
  deps: ActivityDeps,
  provider: Provider,
  attempt: AllocationAttemptRow,
  answered: Answered,
): Promise<boolean> {
  const { provider_code, tag } = attempt;
  const podId = attempt.pod_id ?? (await provider.find(tag))?.podId;
  if (podId === undefined) {
    await moveAttempt(deps.db, attempt.id, 'open', 'condemned', {
      error: 'the rental ended before it was found',
      failedBy: 'us',
    });
    return true;
  }
  if (attempt.pod_id === null) await recordAttemptPod(deps.db, attempt.id, podId);
  const known = await findPodOfRental(deps.db, { provider_code, pod_id: podId });
  if (known?.row.gone_at) return moveAttempt(deps.db, attempt.id, attempt.state, 'gone');
  // A pod that was never listed must be missed by the lists as well.
  if (!known) await expectPod(deps.db, { providerCode: provider_code, podId, tag });
  if (known && !(await isEndDue(deps, known.row, answered.get(attempt.id)))) return false;
  await provider.terminate(podId);
  answered.set(attempt.id, { at: await readClock(deps.db), atMs: performance.now() });
  return false;
}

/** A pod of which the lists tell nothing is asked for again after this, in milliseconds. */
const ASK_AGAIN_MS = MINUTE;

/**
 * Tells whether the upstream is to be asked for the end of a pod. What it answered is asked again only when a later list
 * shows the pod as if nobody had asked: many that end at once would use up the requests, also those for the lists.
 */
async function isEndDue(
  { db }: ActivityDeps,
  pod: PodRow,
  answer: { readonly at: Date; readonly atMs: number } | undefined,
): Promise<boolean> {
  if (answer === undefined || performance.now() - answer.atMs >= ASK_AGAIN_MS) return true;
  return isShownAsBefore(db, pod, answer.at);
}
