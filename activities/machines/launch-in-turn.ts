import { sleep } from '@temporalio/activity';
import { msSince } from '../../adapters/postgres/clock.js';
import { findListing } from '../../adapters/postgres/catalog/listings.js';
import { moveAttempt } from '../../adapters/postgres/machines/attempts.js';
import {
  beginQueued,
  countQueued,
  endWait,
  requeue,
} from '../../adapters/postgres/machines/queued-attempts.js';
import type { AllocationAttemptRow, ListingRow, RentalRow } from '../../adapters/postgres/rows/tables.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import type { Software } from '../../domain/rentals/software.js';
import type { Provider } from '../../adapters/providers/provider.js';
import type { Purchase } from '../../money/rentals/purchase.js';
import { adoptPod } from '../../money/rentals/pod-adoption.js';
import type { ActivityDeps } from '../deps.js';
import { openedSoftware, placeOrder } from '../rentals/allocation.js';
import { orderTermsOf } from './order-terms.js';

/** Between two looks at the queue, in milliseconds. */
export const LOOK_MS = 500;

/**
 * Makes the purchase of a queued attempt when its turn has come (decision 158, "Machines in turn"). That it is asked for is
 * on record before the upstream is asked: whoever finds it later looks for what it may have bought, and asks no second
 * time.
 * @returns whether the rental has its machine; false: look again
 */
export async function launchInTurn(
  deps: ActivityDeps,
  rental: RentalRow,
  attempt: AllocationAttemptRow,
): Promise<boolean> {
  if (attempt.asked_at !== null) {
    await endWait(deps.db, attempt.id);
    return false;
  }
  const provider = deps.providers.get(attempt.provider_code);
  const listing = await findListing(deps.db, attempt.listing_id);
  const isLate = (await msSince(deps.db, attempt.created_at)) > rentalLimits.queueMs;
  if (isLate || !provider || !listing) {
    const error = isLate ? 'its turn did not come in time' : 'its provider is not configured';
    await moveAttempt(deps.db, attempt.id, 'open', 'failed', { error, failedBy: 'us' });
    return false;
  }
  const isNext = (await countQueued(deps.db, attempt.provider_code, attempt)) === 0;
  // What fails before it is asked for leaves it in its place.
  const software = await openedSoftware(deps, rental.software);
  if (!isNext || !(await beginQueued(deps.db, attempt.id))) {
    await sleep(LOOK_MS);
    return false;
  }
  const purchase = await buyQueued(deps, provider, { rental, attempt, listing, software });
  await endWait(deps.db, attempt.id);
  if (purchase.kind === 'none') await sleep(LOOK_MS);
  return purchase.kind === 'bought' && adoptPod(deps.db, rental, attempt, purchase.podId);
}

interface QueuedOrder {
  readonly rental: RentalRow;
  readonly attempt: AllocationAttemptRow;
  readonly listing: ListingRow;
  readonly software: Software | undefined;
}

async function buyQueued(
  deps: ActivityDeps,
  provider: Provider,
  { rental, attempt, listing, software }: QueuedOrder,
): Promise<Purchase> {
  return placeOrder(
    deps,
    provider,
    attempt,
    { listing, software, ...(await orderTermsOf(deps, rental)) },
    (waitMs) => requeue(deps.db, attempt.id, waitMs),
  );
}
