import { Context } from '@temporalio/activity';
import { listAttempts, moveAttempt } from '../../adapters/postgres/machines/attempts.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { meterWallets } from '../../money/metering/meter.js';
import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { findRental, insertRental } from '../../money/rentals/rentals.js';
import { lockWalletOfUser, moveHold, reread, type LockedWallet } from '../../money/ledger/wallets.js';
import {
  refuseFreeMachines,
  refuseWhenLate,
  refuseWhenNotAllowed,
} from '../../adapters/postgres/rentals/open-guards.js';
import {
  earlierOf,
  findRentalRequest,
  takesOpeningsOf01,
} from '../../adapters/postgres/requests/opening-requests.js';
import { findCheapestOffer } from '../../adapters/postgres/catalog/offers.js';
import { paidUntil } from '../../adapters/postgres/rentals/paid-until.js';
import type { ListingRow } from '../../adapters/postgres/rows/tables.js';
import { UserBusy } from '../../adapters/postgres/requests/user-turns.js';
import { moneyTransaction } from '../../money/ledger/transaction.js';
import type { RentalId } from '../../domain/ids.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { Refusal } from '../../domain/refusal.js';
import type { RentalRequest } from '../../domain/opening.js';
import type { OpenInput, OpenInput01 } from '../../workflows/contracts/rental.js';
import { buyPod, condemn, providersFor, resolveAttempt, type Purchase } from './allocation.js';
import { isWalletBusy } from '../../adapters/postgres/requests/user-turns.js';
import type { ActivityDeps } from '../deps.js';
import { ONE_CALL_MS, withHeartbeat, type Tell } from '../heartbeat.js';
import { answeringRefusals, tellingNothingDone } from '../refusals.js';

export interface OpenRentalInput {
  readonly rentalId: RentalId;
  readonly open: OpenInput | OpenInput01;
}

/** What is to be opened, by the row that was committed. */
type Order = { readonly rentalId: RentalId; readonly open: RentalRequest & OpenInput };

type Opened = { rentalId: RentalId; pricePerHourCents: number; providerCode: string };
/** Whose turn came late still gets a look at the lock, which is mostly free then. */
const MIN_LOCK_WAIT_MS = 200;

type Bought = Exclude<Purchase, { kind: 'none' }>;

/**
 * Opens a rental: the nine steps of spec.md "POST /v1/rentals" under the wallet's row lock, in the order of
 * decision 19. Answers again for a rental that is already open.
 * @throws ApplicationFailure with the code of a refusal, which leaves no hold and no rental
 */
export function createOpenRental(deps: ActivityDeps) {
  return (input: OpenRentalInput): Promise<Opened> =>
    withHeartbeat((tell) => answeringRefusals(() => tellingNothingDone(() => openOnce(deps, input, tell))), {
      stalledAfterMs: ONE_CALL_MS,
    });
}

async function openOnce(deps: ActivityDeps, input: OpenRentalInput, tell: Tell): Promise<Opened> {
  const order = { rentalId: input.rentalId, open: await askedFor(deps, input) };
  tell('locking the wallet');
  // A refusal is decided in here but thrown outside: what was metered stays committed (decision 19).
  const lockUntilMs = performance.now() + rentalLimits.openLockWaitMs;
  const opened = await moneyTransaction(
    deps.openDb,
    order.open.userId,
    (trx) => openUnderLock(deps, trx, order, { tell, lockUntilMs }).catch(keepRefusal),
    rentalLimits.openLockWaitMs,
  ).catch((error: unknown) => {
    throw error instanceof UserBusy ? refusalWhenBusy(error) : error;
  });
  if (!(opened instanceof Refusal)) return opened;
  await condemnOpenAttempts(deps, input.rentalId, opened.message);
  throw opened;
}

/**
 * What was asked for, by the committed row; of its time and the messenger's, the earlier one counts. What 0.1 began has no
 * row, and is taken for an hour after the database had its step, or where it was begun (decision 88).
 * @throws Refusal when nothing of ours asks for it
 */
async function askedFor(deps: ActivityDeps, { rentalId, open }: OpenRentalInput): Promise<Order['open']> {
  const request = await findRentalRequest(deps.db, rentalId);
  if (request) return { ...request, answerBefore: earlierOf(request.answerBefore, open.answerBefore) };
  if ('userId' in open && (await takesOpeningsOf01(deps.db))) return open;
  throw new Refusal('temporarily_unavailable', 'This request is not on record: nothing was done. Try again.');
}

async function openUnderLock(
  deps: ActivityDeps,
  trx: Transaction,
  { rentalId, open }: Order,
  { tell, lockUntilMs }: { tell: Tell; lockUntilMs: number },
): Promise<Opened> {
  const locked = await lockWallet(trx, open, lockUntilMs);
  const existing = await findRental(trx, rentalId);
  if (existing) return openedOf(rentalId, existing.price_per_hour_cents, existing.provider_code);
  const leftMs = await refuseWhenLate(trx, open.answerBefore);
  const untilMs = performance.now() + budgetMs(leftMs);
  await refuseWhenNotAllowed(trx, open.userId);
  const freePerHour = deps.settings.freeMachinesPerHour ?? rentalLimits.freeMachinesPerHour;
  await refuseFreeMachines(trx, open.userId, freePerHour);
  await meterWallets(trx, [locked.id]);
  const wallet = await reread(trx, locked);

  const order = await placeOrder(deps, trx, wallet, { rentalId, open }, untilMs, tell);
  const { listing, purchase } = order;
  await refuseWhenLate(trx, open.answerBefore);
  await adopt(trx, purchase);
  // Nothing refuses from here on: a refusal commits, and must not leave a hold without a rental.
  await moveHold(trx, wallet, listing.price_per_hour_cents);
  await insertRental(trx, {
    id: rentalId,
    wallet_id: wallet.id,
    user_id: open.userId,
    name: open.name,
    family: listing.family,
    model: listing.model,
    gpu_count: listing.gpu_count,
    region: listing.region,
    region_code: listing.region_code,
    interconnect: listing.interconnect,
    template_id: open.templateId,
    ssh_key_ids: [...open.sshKeyIds],
    listing_id: listing.id,
    provider_code: listing.provider_code,
    tag: purchase.attempt.tag,
    pod_id: purchase.kind === 'bought' ? purchase.podId : null,
    price_per_hour_cents: listing.price_per_hour_cents,
    max_spend_cents: open.maxSpendCents,
    auto_stop_after_ms: open.autoStopAfterMs,
    opened_seq: wallet.seq,
  });
  await insertAuditEvent(trx, { userId: open.userId, kind: 'rental_created', entityId: rentalId });
  return openedOf(rentalId, listing.price_per_hour_cents, listing.provider_code);
}

/** Buys at the cheapest matching listing that the wallet can pay for; without capacity at the next (decision 19). */
async function placeOrder(
  deps: ActivityDeps,
  trx: Transaction,
  wallet: LockedWallet,
  { rentalId, open }: Order,
  untilMs: number,
  tell: (detail: unknown) => void,
): Promise<{ listing: ListingRow; purchase: Bought }> {
  const earlier = await findEarlierPurchase(deps, trx, rentalId, untilMs);
  if (earlier) {
    // Bought by a try of this activity that died before it could commit.
    affordable(wallet, earlier.listing);
    return earlier;
  }
  const keys = await trx('ssh_keys')
    .where({ user_id: open.userId })
    .whereIn('id', open.sshKeyIds)
    .select('public_key');
  const providerCodes = providersFor(deps, open.templateId);
  const tried: ListingRow[] = [];
  // What is left must do for a call: one that is cut off at once would only leave an unknown outcome.
  while (tried.length < rentalLimits.openTries && untilMs - performance.now() >= rentalLimits.openTryMinMs) {
    const listing = await findCheapestOffer(
      trx,
      { ...open, providerCodes, maxPricePerHourCents: priceCap(open, tried[0]) },
      tried.map(({ id }) => id),
    );
    if (!listing) break;
    affordable(wallet, listing);
    tried.push(listing);
    tell(`asking ${listing.provider_code} for ${listing.offer_id}, try ${tried.length}`);
    const purchase = await buyPod(deps, {
      rentalId,
      listing,
      templateId: open.templateId,
      publicKeys: keys.map((key) => key.public_key),
      maxPricePerHourCents: listing.price_per_hour_cents,
      endBy: await paidUntil(trx, wallet.id, listing.price_per_hour_cents),
      untilMs,
    });
    if (purchase.kind !== 'none') return { listing, purchase };
  }
  if (tried.length === 0) refuseWithoutTime(untilMs);
  throw new Refusal(
    'model_unavailable',
    tried.length === 0
      ? 'No machine on offer matches now. Try another family, region, GPU count or price.'
      : `No matching machine could be had at the upstreams (${tried.length} tried). Try again in a minute.`,
  );
}

/**
 * How long the upstreams may take in all (decision 19): each call ends with it, whatever the limit of a single one,
 * and looking for what a cut-off create has bought still fits before the caller's own deadline (decision 4).
 */
function budgetMs(leftMs: number): number {
  return Math.min(rentalLimits.openBudgetMs, leftMs - rentalLimits.openFinishMs);
}

/** @throws Refusal when not even one upstream could be asked: that says nothing about what is on offer */
function refuseWithoutTime(untilMs: number): void {
  if (untilMs - performance.now() >= rentalLimits.openTryMinMs) return;
  throw new Refusal(
    'temporarily_unavailable',
    'The service was too busy to ask for a machine in time, and nothing happened. Try again.',
  );
}

/** A crash may have come after the call: what it bought is found by its tag, and used (decision 21). */
async function findEarlierPurchase(
  deps: ActivityDeps,
  trx: Transaction,
  rentalId: RentalId,
  untilMs: number,
): Promise<{ listing: ListingRow; purchase: Bought } | undefined> {
  const attempt = (await listAttempts(deps.db, rentalId)).find(({ state }) => state === 'open');
  if (!attempt) return undefined;
  const listing = await trx('listings').where({ id: attempt.listing_id }).first();
  const provider = deps.providers.get(attempt.provider_code);
  if (!listing || !provider)
    throw new Error(`allocation attempt ${attempt.tag} names an unknown listing or provider`);
  const purchase = await resolveAttempt(deps, provider, attempt, {
    lookMs: rentalLimits.unknownLookMs,
    maxPricePerHourCents: attempt.price_per_hour_cents,
    untilMs,
  });
  if (purchase.kind === 'none') return undefined;
  return { listing: { ...listing, price_per_hour_cents: attempt.price_per_hour_cents }, purchase };
}

async function lockWallet(trx: Transaction, open: RentalRequest, lockUntilMs: number): Promise<LockedWallet> {
  const leftMs = Math.max(MIN_LOCK_WAIT_MS, Math.round(lockUntilMs - performance.now()));
  await trx.raw(`set local lock_timeout = '${leftMs}ms'`);
  try {
    return await lockWalletOfUser(trx, open.userId);
  } catch (error) {
    throw isWalletBusy(error) ? refusalWhenBusy(error) : error;
  }
}

/** Somebody else holds the wallet: in this process, where its turn did not come, or in another one. */
function refusalWhenBusy(error: unknown): unknown {
  // A later try may have met an earlier one of its own, which may yet commit: it asks again.
  if (Context.current().info.attempt > 1) return error;
  return new Refusal('rate_limited', 'Another rental of yours is being opened. Try again in a few seconds.', {
    retryAfterSeconds: rentalLimits.openLockWaitMs / 1_000,
  });
}

function affordable(wallet: LockedWallet, listing: ListingRow): void {
  if (wallet.availableCents >= listing.price_per_hour_cents) return;
  throw new Refusal(
    'insufficient_balance',
    'Less than one hour of this machine is available. Top up the wallet first.',
    {
      requiredCents: listing.price_per_hour_cents,
      availableCents: wallet.availableCents,
    },
  );
}

function priceCap(open: RentalRequest, first: ListingRow | undefined): number | null {
  if (!first) return open.maxPricePerHourCents;
  const dearest = Math.floor((first.price_per_hour_cents * (100 + rentalLimits.openMaxDearerPercent)) / 100);
  return open.maxPricePerHourCents ?? dearest;
}

/** The pod becomes the rental's in the transaction that makes the rental; one that was condemned meanwhile can't. */
async function adopt(trx: Transaction, purchase: Bought): Promise<void> {
  // An unknown attempt stays open: the workflow looks on for its tag.
  if (purchase.kind === 'unknown') return;
  const adopted = await moveAttempt(trx, purchase.attempt.id, 'open', 'adopted', { podId: purchase.podId });
  if (!adopted)
    throw new Refusal('temporarily_unavailable', 'The machine was given up before it was yours. Try again.');
}

async function condemnOpenAttempts(deps: ActivityDeps, rentalId: RentalId, why: string): Promise<void> {
  for (const attempt of (await listAttempts(deps.db, rentalId)).filter(({ state }) => state === 'open')) {
    const provider = deps.providers.get(attempt.provider_code);
    if (provider) await condemn(deps, provider, attempt, attempt.pod_id, why);
  }
}

function openedOf(rentalId: RentalId, pricePerHourCents: number, providerCode: string): Opened {
  return { rentalId, pricePerHourCents, providerCode };
}

function keepRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  throw error;
}
