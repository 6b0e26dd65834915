import { newId } from '../../adapters/ids.js';
import { presentQuote, type Quote } from '../../api/rentals/quotes.js';
import type { ApiKeyId } from '../../domain/ids.js';
import type { RentalRequest } from '../../domain/rentals/request.js';
import { softwareLimits } from '../../domain/rentals/software.js';
import { usualLimit } from '../../domain/spending/pots.js';
import { noSuchQuote, refusalOfExpired } from '../../domain/rentals/quotes.js';
import { refuseRenter } from '../../domain/rentals/open.js';
import { Refusal } from '../../domain/refusal.js';
import type { Account, MockQuote, MockRental, RentalFate } from './account.js';
import { readBurn } from './burn.js';
import { madeUpRecord } from './history.js';
import { findAlternatives, findCheapest, unavailable } from './offers.js';
import { openRental, readRenter } from './rentals.js';
import { potsOf } from './spending.js';
import { mockTelemetry } from './telemetry.js';
import type { World } from './world.js';

/** Quotes what a rental would cost (decision 104, "Quotes and alternatives"). @throws Refusal blocked, model_unavailable */
export function makeQuote(world: World, account: Account, request: RentalRequest): Quote {
  refuseRenter(readRenter(world, account));
  return quote(world, account, request);
}

function quote(world: World, account: Account, request: RentalRequest): Quote {
  const listing = findCheapest(world, request);
  if (!listing) throw unavailable(world, request);
  const pots = potsOf(world, account, request.apiKeyId);
  const maxSpendCents = usualLimit(request, listing.price_per_hour_cents, pots);
  const limited = { ...request, maxSpendCents };
  const { id, expiresAt } = keep(world, account, limited, listing.price_per_hour_cents);
  const seconds = Math.ceil(world.durations.provisionMs / 1_000);
  const facts = {
    id,
    expiresAt,
    listing,
    request: limited,
    pots,
    funds: { availableCents: account.wallet.availableCents, ...readBurn(account) },
    readySeconds: { p50: seconds, p90: seconds },
    alternatives: findAlternatives(world, request, listing),
    graceMs: softwareLimits.graceMs,
    telemetry: mockTelemetry,
  };
  return presentQuote(facts, madeUpRecord);
}

function keep(world: World, account: Account, request: RentalRequest, pricePerHourCents: number): MockQuote {
  const expiresAt = new Date(world.now().getTime() + world.durations.quoteMs);
  const { apiKeyId: askedBy, ...asked } = request;
  const kept: MockQuote = {
    ...{ id: newId('quo'), request: asked, askedBy },
    ...{ pricePerHourCents, expiresAt, rental: undefined },
  };
  account.quotes.push(kept);
  return kept;
}

/**
 * Opens a rental by a quote, or finds the one that was opened by it.
 * @param apiKeyId the key that takes it, which need not be the one that asked for it
 * @throws Refusal quote_not_found; quote_expired with a new quote; what an opening refuses
 */
export function openByQuote(
  world: World,
  account: Account,
  quoteId: string,
  fate: RentalFate,
  apiKeyId: ApiKeyId | undefined,
): { readonly rental: MockRental; readonly isTaken: boolean } {
  const taken = account.quotes.find(({ id }) => id === quoteId);
  if (!taken || !maySee(account, taken, apiKeyId)) throw noSuchQuote();
  if (taken.rental) return { rental: taken.rental, isTaken: true };
  const asked = { ...taken.request, ...(apiKeyId !== undefined && { apiKeyId }) };
  const expired = refusalOfExpired(taken, world.now());
  if (expired) throw withOffer(expired, quote(world, account, asked));
  const { pricePerHourCents: maxPricePerHourCents } = taken;
  const rental = openRental(world, account, { ...asked, maxPricePerHourCents }, fate);
  taken.rental = rental;
  return { rental, isTaken: false };
}

/** A key with a cap knows its own quotes alone, and those whose rental is its own. */
function maySee({ apiKeys }: Account, { askedBy, rental }: MockQuote, key: ApiKeyId | undefined): boolean {
  const capped = apiKeys.find(({ row }) => row.id === key && row.spend_cap_cents !== null);
  if (!capped) return true;
  return askedBy === key && (rental === undefined || rental.row.api_key_id === key);
}

/** Prices stay here, so there always is another quote. */
function withOffer({ code, message, details }: Refusal, offer: Quote): Refusal {
  return new Refusal(code, message, { ...details, quote: offer });
}
