import { insertAuditEvent } from '../../adapters/postgres/accounts/audit-events.js';
import { listKeysOf } from '../../adapters/postgres/accounts/ssh-keys.js';
import { findOffers } from '../../adapters/postgres/catalog/offers.js';
import type { Database, Transaction } from '../../adapters/postgres/database.js';
import { moveAttempt } from '../../adapters/postgres/machines/attempts.js';
import { readFreeMachines } from '../../adapters/postgres/rentals/free-machines.js';
import { readRenter, refuseWhenLate } from '../../adapters/postgres/rentals/open-guards.js';
import { paidUntil } from '../../adapters/postgres/rentals/paid-until.js';
import { isWalletBusy, UserBusy } from '../../adapters/postgres/requests/user-turns.js';
import { takeQuote } from '../../adapters/postgres/rentals/quotes.js';
import type { ListingRow } from '../../adapters/postgres/rows/tables.js';
import type { RentalId, UserId } from '../../domain/ids.js';
import type { RentalRequest } from '../../domain/rentals/request.js';
import { Refusal } from '../../domain/refusal.js';
import type { FreeMachineLimits } from '../../domain/rentals/free-machines.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { asksForUse } from '../../domain/rentals/idle-guard.js';
import { dearestBeside, refuseOpening } from '../../domain/rentals/open.js';
import { wordsOf } from '../../domain/rentals/words.js';
import { moneyTransaction } from '../ledger/transaction.js';
import { lockWalletOfUser, moveHold, reread, type LockedWallet } from '../ledger/wallets.js';
import { meterWallets } from '../metering/meter.js';
import { limitFor, reserve } from '../spending/reserve.js';
import type { Bargain, Market, PodOrder } from './purchase.js';
import {
  findRentalOf,
  readQuote,
  refuseWhenDearer,
  refuseWhenNotFree,
  type NamedQuote,
  type QuoteToTake,
} from './quotes.js';
import { findRental, insertRental, type NewRental } from './rentals.js';

/** The rental that is to be opened. */
export interface RentalToOpen {
  readonly rentalId: RentalId;
  readonly request: RentalRequest;
  /** ISO instant by the database's clock: nothing is opened after it (decision 4, "Promise of a 503"). */
  readonly answerBefore: string;
  /** The quote by which it is opened; absent for none. */
  readonly quote?: QuoteToTake | undefined;
}

export interface OpenedRental {
  /** Another rental's than the one that was to be opened when that was opened by the same quote before. */
  readonly rentalId: RentalId;
  readonly pricePerHourCents: number;
  readonly providerCode: string;
}

/**
 * The shortest wait for the wallet's lock, in milliseconds. A user whose turn came late still gets a look at the lock,
 * which is mostly free then.
 */
const MIN_LOCK_WAIT_MS = 200;

/**
 * Opens a rental: the nine steps of spec.md "POST /v1/rentals" under the wallet's row lock, in the order of decision
 * 19, "Order of an opening". Answers again for a rental that is already open, and for one that was opened by the same
 * quote.
 * @param freeMachines what machines that nobody is billed for may cost (decision 83, "Cost of one caller")
 * @param lockWaitMs how long it waits for whoever holds the wallet, in milliseconds
 * @returns what was opened, or the refusal, which leaves no hold and no rental. The refusal is not thrown, because
 *   charges that were metered stay committed (decision 19, "Order of an opening")
 * @throws UserBusy when somebody else holds the wallet for longer than `lockWaitMs`: nothing was begun
 */
export async function openRental(
  db: Database,
  opening: RentalToOpen,
  market: Market,
  freeMachines: FreeMachineLimits,
  lockWaitMs: number = rentalLimits.openLockWaitMs,
): Promise<OpenedRental | Refusal> {
  const lockUntilMs = performance.now() + lockWaitMs;
  return moneyTransaction(
    db,
    opening.request.userId,
    (trx) => openUnderLock(trx, opening, market, { lockUntilMs, freeMachines }).catch(asAnswer),
    lockWaitMs,
  );
}

/**
 * Locks, looks whether the rental is there, refuses, picks and buys, holds, inserts. A process may die at any line:
 * each recovery point below says where a later try goes on.
 */
async function openUnderLock(
  trx: Transaction,
  opening: RentalToOpen,
  market: Market,
  { lockUntilMs, freeMachines }: { lockUntilMs: number; freeMachines: FreeMachineLimits },
): Promise<OpenedRental> {
  const { rentalId, request, answerBefore } = opening;
  const locked = await lockWallet(trx, request.userId, lockUntilMs);

  // Recovery point 1: an earlier try has committed, and its answer was lost. Or the quote was taken before.
  const quote = await readQuote(trx, request.userId, opening.quote);
  const existing = (await findRental(trx, rentalId)) ?? (await findRentalOf(trx, quote));
  if (existing) return openedOf(existing.id, existing);

  const leftMs = await refuseWhenLate(trx, answerBefore);
  const untilMs = performance.now() + budgetMs(leftMs);
  if (quote) await refuseWhenNotFree(trx, quote, rentalId);
  const machines = await readFreeMachines(trx, request.userId, freeMachines);
  refuseOpening(await readRenter(trx, request.userId), machines, freeMachines);
  // Money that is already owed can't be spent.
  await meterWallets(trx, [locked.id]);
  const wallet = await reread(trx, locked);

  // Recovery point 2: an earlier try has bought, and died before it could commit.
  const bargain =
    (await market.findBought(untilMs)) ??
    (await buyCheapest(trx, wallet, opening, market, { untilMs, quote }));

  // From here on, a machine that is bought and then refused is given back by the caller that receives the refusal.
  await refuseWhenLate(trx, answerBefore);
  const limit = await limitFor(trx, request, fundsFor(wallet, bargain.listing), 'locked');
  if (!(await adopt(trx, bargain))) {
    throw new Refusal(
      'temporarily_unavailable',
      'We gave up on this machine before it was yours. Try again.',
    );
  }
  // Nothing refuses from here on: a refusal commits, and must not leave a hold without a rental.
  await moveHold(trx, wallet, bargain.listing.price_per_hour_cents);
  await insertRental(trx, rentalOf(opening, wallet, bargain, limit));
  await reserve(trx, request.apiKeyId, limit);
  if (quote) await takeQuote(trx, quote.id, rentalId);
  const { userId, apiKeyId } = request;
  await insertAuditEvent(trx, { userId, apiKeyId, kind: 'rental_created', entityId: rentalId });
  return openedOf(rentalId, bargain.listing);
}

/**
 * Buys at the cheapest matching listing that the wallet can pay for, and at the next where there is no capacity
 * (decision 19, "Order of an opening"). Each purchase is a recovery point of its own: its attempt is committed before
 * the upstream is asked. What a quote asks for has the quoted price as its highest one.
 */
async function buyCheapest(
  trx: Transaction,
  wallet: LockedWallet,
  opening: RentalToOpen,
  market: Market,
  { untilMs, quote }: { untilMs: number; quote: NamedQuote | undefined },
): Promise<Bargain> {
  const { bargain, tried, passedOver } = await tryListings(trx, wallet, opening, market, untilMs);
  if (bargain) return bargain;
  for (const { order } of passedOver) {
    // Its attempt is committed like that of a purchase, and a later try finds it.
    const queued = await market.queue(order);
    if (queued) return { listing: order.listing, purchase: queued };
  }
  if (tried.length === 0) refuseWhenOutOfTime(untilMs);
  if (quote) await refuseWhenDearer(trx, quote, market.providerCodes, tried);
  throw nothingToRent(opening.request, tried, passedOver);
}

/** What came of the listings that were tried, and those that were passed over because others had their turn. */
interface Tries {
  readonly bargain: Bargain | undefined;
  readonly tried: readonly ListingRow[];
  readonly passedOver: readonly PassedOver[];
}

interface PassedOver {
  readonly order: PodOrder;
  readonly waitMs: number;
}

async function tryListings(
  trx: Transaction,
  wallet: LockedWallet,
  { rentalId, request }: RentalToOpen,
  market: Market,
  untilMs: number,
): Promise<Tries> {
  const publicKeys = await listKeysOf(trx, request, request.sshPublicKeys);
  const { providerCodes, starts } = market;
  const tried: ListingRow[] = [];
  let maxPricePerHourCents = request.maxPricePerHourCents;
  // One of each upstream that is out of turn: it is so for all its offers, and was not asked for.
  const passedOver: PassedOver[] = [];
  const unfit = new Set<string>();
  const isInTurn = (code: string) =>
    !unfit.has(code) && !passedOver.some(({ order }) => order.listing.provider_code === code);
  // The time left must do for a call: a call that is cut off at once would only leave an unknown outcome.
  while (
    tried.length - passedOver.length < rentalLimits.openTries &&
    untilMs - performance.now() >= rentalLimits.openTryMinMs
  ) {
    const offers = await findOffers(
      trx,
      { ...request, providerCodes: providerCodes.filter(isInTurn), maxPricePerHourCents },
      tried.map(({ id }) => id),
      starts,
    );
    const listing = firstAffordable(offers, wallet);
    if (!listing) break;
    maxPricePerHourCents ??= dearestBeside(offers);
    await limitFor(trx, request, fundsFor(wallet, listing), 'unlocked');
    tried.push(listing);
    const order = {
      rentalId,
      listing,
      templateId: request.templateId,
      software: request.software,
      telemetry: asksForUse(request),
      publicKeys,
      maxPricePerHourCents: listing.price_per_hour_cents,
      endBy: await paidUntil(trx, wallet.id, listing.price_per_hour_cents),
      untilMs,
    };
    const purchase = await market.buy(order);
    if (purchase.kind !== 'none') return { bargain: { listing, purchase }, tried, passedOver };
    if (purchase.isUnfit) unfit.add(listing.provider_code);
    if (purchase.outOfTurnMs !== undefined) passedOver.push({ order, waitMs: purchase.outOfTurnMs });
  }
  return { bargain: undefined, tried, passedOver };
}

/** The first that the wallet can pay for: an order by more than the price refuses nobody. Else the cheapest. */
function firstAffordable(
  offers: readonly ListingRow[],
  { availableCents }: LockedWallet,
): ListingRow | undefined {
  return (
    offers.find((offer) => offer.price_per_hour_cents <= availableCents) ??
    offers.toSorted((a, b) => a.price_per_hour_cents - b.price_per_hour_cents)[0]
  );
}

function nothingToRent(
  { familyId, gpuCount, region }: RentalRequest,
  tried: readonly ListingRow[],
  passedOver: readonly PassedOver[],
): Refusal {
  return new Refusal(
    'model_unavailable',
    tried.length === 0
      ? 'No available machine matches. Try another family, region, GPU count or price.'
      : `No provider had a matching machine (${tried.length} tried). Try again in a minute.`,
    {
      familyId,
      gpuCount,
      region,
      triedListingIds: tried.map(({ id }) => id),
      ...(passedOver.length > 0 && {
        retryAfterSeconds: Math.ceil(Math.min(...passedOver.map(({ waitMs }) => waitMs)) / 1_000),
      }),
    },
  );
}

async function lockWallet(trx: Transaction, userId: UserId, lockUntilMs: number): Promise<LockedWallet> {
  const leftMs = Math.max(MIN_LOCK_WAIT_MS, Math.round(lockUntilMs - performance.now()));
  await trx.raw(`set local lock_timeout = '${leftMs}ms'`);
  try {
    return await lockWalletOfUser(trx, userId);
  } catch (error) {
    throw isWalletBusy(error) ? new UserBusy('somebody else holds the wallet', { cause: error }) : error;
  }
}

/**
 * Returns how long the upstreams may take in all, in milliseconds (decision 19, "Order of an opening"). Each call ends
 * with this budget, whatever the limit of a single call. A search for what a cut-off create has bought still fits
 * before the caller's own deadline (decision 4, "Promise of a 503").
 */
function budgetMs(leftMs: number): number {
  return Math.min(rentalLimits.openBudgetMs, leftMs - rentalLimits.openFinishMs);
}

function fundsFor({ availableCents }: LockedWallet, { price_per_hour_cents: pricePerHourCents }: ListingRow) {
  return { availableCents, pricePerHourCents };
}

/** @throws Refusal when not even one upstream could be asked, which says nothing about what is on offer */
function refuseWhenOutOfTime(untilMs: number): void {
  if (untilMs - performance.now() >= rentalLimits.openTryMinMs) return;
  throw new Refusal(
    'temporarily_unavailable',
    'We were too busy to order a machine in time, and nothing happened. Try again.',
  );
}

/**
 * Gives the pod to the rental, in the transaction that makes the rental. The attempt of an unknown purchase stays open:
 * the workflow goes on looking for its tag.
 * @returns false when the pod was condemned meanwhile (decision 22, "Machines of nobody")
 */
async function adopt(trx: Transaction, { purchase }: Bargain): Promise<boolean> {
  if (purchase.kind === 'unknown') return true;
  return moveAttempt(trx, purchase.attempt.id, 'open', 'adopted', { podId: purchase.podId });
}

function rentalOf(
  { rentalId, request }: RentalToOpen,
  wallet: LockedWallet,
  { listing, purchase }: Bargain,
  maxSpendCents: number | null,
): NewRental {
  return {
    id: rentalId,
    wallet_id: wallet.id,
    user_id: request.userId,
    ...wordsOf(request),
    family: listing.family,
    model: listing.model,
    gpu_count: listing.gpu_count,
    region: listing.region,
    region_code: listing.region_code,
    interconnect: listing.interconnect,
    template_id: request.templateId,
    ssh_key_ids: [...request.sshKeyIds],
    api_key_id: request.apiKeyId ?? null,
    own_ssh_keys: request.sshPublicKeys?.length ?? 0,
    software: request.software ?? null,
    telemetry: asksForUse(request),
    idleGuard: request.idleGuard,
    listing_id: listing.id,
    provider_code: listing.provider_code,
    tag: purchase.attempt.tag,
    pod_id: purchase.kind === 'bought' ? purchase.podId : null,
    price_per_hour_cents: listing.price_per_hour_cents,
    max_spend_cents: maxSpendCents,
    auto_stop_after_ms: request.autoStopAfterMs,
    opened_seq: wallet.seq,
  };
}

function openedOf(
  rentalId: RentalId,
  row: { readonly price_per_hour_cents: number; readonly provider_code: string },
): OpenedRental {
  return { rentalId, pricePerHourCents: row.price_per_hour_cents, providerCode: row.provider_code };
}

function asAnswer(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  throw error;
}
