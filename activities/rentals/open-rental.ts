import { Context } from '@temporalio/activity';
import { setTimeout as sleep } from 'node:timers/promises';
import { listKeysOf } from '../../adapters/postgres/accounts/ssh-keys.js';
import { findListing } from '../../adapters/postgres/catalog/listings.js';
import { knownStarts } from '../../adapters/postgres/catalog/starts.js';
import { listAttempts } from '../../adapters/postgres/machines/attempts.js';
import { earlierOf, findRentalRequest } from '../../adapters/postgres/requests/opening-requests.js';
import { isAskedForTwice } from '../../adapters/postgres/rentals/quotes.js';
import { UserBusy } from '../../adapters/postgres/requests/user-turns.js';
import type { KnownStarts } from '../../domain/catalog/starts.js';
import type { RentalId } from '../../domain/ids.js';
import { Refusal } from '../../domain/refusal.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { keysCharsOf } from '../../domain/rentals/software.js';
import { openRental, type OpenedRental, type RentalToOpen } from '../../money/rentals/open.js';
import type { Bargain, Market } from '../../money/rentals/purchase.js';
import type { OpenInput } from '../../workflows/contracts/rental.js';
import type { ActivityDeps } from '../deps.js';
import { ONE_CALL_MS, withHeartbeat, type Tell } from '../heartbeat.js';
import { answeringRefusals, tellingNothingDone } from '../refusals.js';
import { buyPod, condemn, providersFor, queuePod, resolveAttempt } from './allocation.js';
import { readLook, type RentalLook } from './rental.js';

/** How long a caller waits, after the commit, for what only the workflow wants, in milliseconds. */
const LOOK_WITHIN_MS = 300;

export interface OpenRentalInput {
  readonly rentalId: RentalId;
  readonly open: OpenInput;
}

/** What was opened, and where the rental stands: its caller gets the first, its workflow goes on from the second. */
export interface OpenedWithLook extends OpenedRental {
  /** Absent when the row could not be read after the commit: the workflow reads it by itself. */
  readonly look?: RentalLook;
}

/**
 * Opens a rental (money/rentals/open.ts) with the upstreams that this worker has. Answers again for a rental that is
 * already open.
 * @throws ApplicationFailure with the code of a refusal, which leaves no hold and no rental
 */
export function createOpenRental(deps: ActivityDeps) {
  return (input: OpenRentalInput): Promise<OpenedWithLook> =>
    withHeartbeat(
      async (tell) => {
        const opened = await answeringRefusals(() => tellingNothingDone(() => openOnce(deps, input, tell)));
        return { ...opened, ...(await lookAfterwards(deps, input.rentalId)) };
      },
      { stalledAfterMs: ONE_CALL_MS },
    );
}

/**
 * Looks at the row. A look that fails or is slow takes nothing back, and no caller waits for it: the machine is bought
 * already.
 */
async function lookAfterwards(
  { db, log }: ActivityDeps,
  rentalId: RentalId,
): Promise<Pick<OpenedWithLook, 'look'>> {
  const over = new AbortController();
  const reading = readLook(db, rentalId)
    .then((look) => ({ look }))
    .catch((err: unknown) => {
      log.warn({ err, rentalId }, 'a rental was opened and could not be read; its workflow reads it again');
      return {};
    })
    .finally(() => over.abort());
  const late = sleep(LOOK_WITHIN_MS, {}, { signal: over.signal }).catch(() => reading);
  return Promise.race([reading, late]);
}

/**
 * Makes one try. It finds the purchase of an earlier try under the wallet's lock, and gives back a purchase that was
 * refused.
 */
async function openOnce(deps: ActivityDeps, input: OpenRentalInput, tell: Tell): Promise<OpenedRental> {
  const opening = await readOpening(deps, input);
  tell('locking the wallet');
  const limits = { ...rentalLimits.freeMachines, ...deps.settings.freeMachines };
  const market = marketOf(deps, opening, await knownStarts(deps.db), tell);
  const { openLockWaitMs } = deps.settings;
  const opened = await openRental(deps.openDb, opening, market, limits, openLockWaitMs).catch(
    (error: unknown) => refuseWhenBusy(deps, opening, error),
  );
  if (!(opened instanceof Refusal) && opened.rentalId === input.rentalId) return opened;
  // If the process dies before this, the sweeper gives up the attempts that stay open (decision 22, "Machines of
  // nobody").
  const isRefused = opened instanceof Refusal;
  await condemnOpenAttempts(deps, input.rentalId, isRefused ? opened.message : 'its quote was taken');
  if (isRefused) throw opened;
  return opened;
}

/**
 * Reads from the committed row what was asked for (decision 88, "Rows before workflows"); of the row's time and the
 * messenger's, the earlier one counts.
 * @throws Refusal when nothing of ours asks for it
 */
async function readOpening(deps: ActivityDeps, { rentalId, open }: OpenRentalInput): Promise<RentalToOpen> {
  const request = await findRentalRequest(deps.db, rentalId);
  if (!request) {
    throw new Refusal(
      'temporarily_unavailable',
      'We have no record of this request, so nothing happened. Try again.',
    );
  }
  const { quoteId, requestedAt } = request;
  const keys = await listKeysOf(deps.db, request, request.sshPublicKeys);
  return {
    rentalId,
    request: { ...request, keysChars: keysCharsOf(keys) },
    answerBefore: earlierOf(request.answerBefore, open.answerBefore),
    quote: quoteId === null ? undefined : { id: quoteId, requestedAt },
  };
}

/** The upstreams as an opening sees them. */
function marketOf(
  deps: ActivityDeps,
  { rentalId, request }: RentalToOpen,
  starts: KnownStarts,
  tell: Tell,
): Market {
  let tries = 0;
  return {
    providerCodes: providersFor(deps, request),
    starts,
    findBought: (untilMs) => findBought(deps, rentalId, untilMs, request.software?.diskGb),
    buy: (order) => {
      tries += 1;
      tell(`asking ${order.listing.provider_code} for ${order.listing.offer_id}, try ${tries}`);
      return buyPod(deps, order);
    },
    queue: (order) => queuePod(deps, order),
  };
}

/** Finds by its tag what a try bought before it crashed, and uses it (decision 21, "Lost upstream answers"). */
async function findBought(
  deps: ActivityDeps,
  rentalId: RentalId,
  untilMs: number,
  diskGb: number | null | undefined,
): Promise<Bargain | undefined> {
  const attempt = (await listAttempts(deps.db, rentalId)).find(({ state }) => state === 'open');
  if (!attempt) return undefined;
  const listing = await findListing(deps.db, attempt.listing_id);
  const provider = deps.providers.get(attempt.provider_code);
  if (!listing || !provider)
    throw new Error(`allocation attempt ${attempt.tag} names an unknown listing or provider`);
  const atItsPrice = { ...listing, price_per_hour_cents: attempt.price_per_hour_cents };
  // Nobody was asked for what waits for its turn.
  if (attempt.launch_at !== null)
    return { listing: atItsPrice, purchase: { kind: 'unknown', attempt, listed: false } };
  const purchase = await resolveAttempt(deps, provider, attempt, {
    lookMs: rentalLimits.unknownLookMs,
    maxPricePerHourCents: attempt.price_per_hour_cents,
    diskGb: diskGb ?? null,
    untilMs,
  });
  return purchase.kind === 'none' ? undefined : { listing: atItsPrice, purchase };
}

/**
 * Refuses when somebody else holds the wallet: in this process, where the user's turn did not come, or in another one.
 */
async function refuseWhenBusy(
  { db }: ActivityDeps,
  { rentalId, quote }: RentalToOpen,
  error: unknown,
): Promise<never> {
  if (!(error instanceof UserBusy)) throw error;
  // A later try may have met an earlier one of its own, which may still commit. So it asks again.
  if (Context.current().info.attempt > 1) throw error;
  // Another request may be opening the rental of the same quote just now, which answers this one too.
  if (quote && (await isAskedForTwice(db, { quoteId: quote.id, rentalId }))) throw error;
  throw new Refusal(
    'rate_limited',
    'We are still opening another rental for you. Try again in a few seconds.',
    {
      retryAfterSeconds: rentalLimits.openLockWaitMs / 1_000,
    },
  );
}

async function condemnOpenAttempts(deps: ActivityDeps, rentalId: RentalId, why: string): Promise<void> {
  for (const attempt of (await listAttempts(deps.db, rentalId)).filter(({ state }) => state === 'open')) {
    const provider = deps.providers.get(attempt.provider_code);
    if (provider) await condemn(deps, provider, attempt, attempt.pod_id, { error: why, failedBy: 'us' });
  }
}
