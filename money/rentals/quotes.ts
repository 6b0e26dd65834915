import { findCheapestOffer } from '../../adapters/postgres/catalog/offers.js';
import type { Transaction } from '../../adapters/postgres/database.js';
import { findQuote, isBoughtFor } from '../../adapters/postgres/rentals/quotes.js';
import type { ListingRow, QuoteRow, RentalRow } from '../../adapters/postgres/rows/tables.js';
import type { QuoteId, RentalId, UserId } from '../../domain/ids.js';
import { noSuchQuote, refusalOfExpired } from '../../domain/rentals/quotes.js';
import { Refusal } from '../../domain/refusal.js';
import { findRental } from './rentals.js';

/** The quote that an opening names (decision 104, "Quotes and alternatives"). */
export interface QuoteToTake {
  readonly id: QuoteId;
  /** When the request that names it was committed, by the database's clock: that was in time, or it never is. */
  readonly requestedAt: Date;
}

/**
 * Another request has bought a machine by the same quote, and its process has died: it may still adopt that machine, so
 * nobody buys a second one meanwhile. Nothing was begun.
 */
export class QuoteInOtherHands extends Error {
  override readonly name = 'QuoteInOtherHands';
  readonly code = 'QUOTE_IN_OTHER_HANDS';
}

/** A quote, and when the request that names it was committed. */
export type NamedQuote = QuoteRow & { readonly requestedAt: Date };

/**
 * Reads the quote that an opening names, under its user's wallet lock: under that alone quotes are taken.
 * @returns undefined when it names none
 * @throws Refusal quote_not_found when it is not the user's, or was pruned
 */
export async function readQuote(
  trx: Transaction,
  userId: UserId,
  named: QuoteToTake | undefined,
): Promise<NamedQuote | undefined> {
  if (!named) return undefined;
  const quote = await findQuote(trx, userId, named.id);
  if (!quote) throw noSuchQuote();
  return { ...quote, requestedAt: named.requestedAt };
}

/** Finds the rental for which a quote was taken: whoever names the quote again gets that one. */
export async function findRentalOf(
  trx: Transaction,
  quote: NamedQuote | undefined,
): Promise<RentalRow | undefined> {
  return quote?.rental_id ? findRental(trx, quote.rental_id) : undefined;
}

/**
 * Refuses a quote that was asked for too late. What counts is the instant of the request: its tries may take longer.
 * @throws Refusal quote_expired
 * @throws QuoteInOtherHands when another request is about to take it: try again
 */
export async function refuseWhenNotFree(
  trx: Transaction,
  quote: NamedQuote,
  rentalId: RentalId,
): Promise<void> {
  const expired = refusalOfExpired({ id: quote.id, expiresAt: quote.expires_at }, quote.requestedAt);
  if (expired) throw expired;
  if (await isBoughtFor(trx, { quoteId: quote.id, rentalId })) {
    throw new QuoteInOtherHands(`another request has bought a machine by ${quote.id}`);
  }
}

/**
 * Refuses when what was quoted is still on offer, but for more money only.
 * @param providerCodes the upstreams that can start its template
 * @param tried the listings that had no capacity
 * @throws Refusal price_changed
 */
export async function refuseWhenDearer(
  trx: Transaction,
  quote: QuoteRow,
  providerCodes: readonly string[],
  tried: readonly ListingRow[],
): Promise<void> {
  const now = await findCheapestOffer(
    trx,
    { ...quote.request, providerCodes },
    tried.map(({ id }) => id),
  );
  // One that is not dearer was not tried any more: that is no change of the price.
  if (!now || now.price_per_hour_cents <= quote.price_per_hour_cents) return;
  throw new Refusal('price_changed', 'No machine is available at the quoted price any more.', {
    quoteId: quote.id,
    quotedPricePerHourCents: quote.price_per_hour_cents,
    pricePerHourCents: now.price_per_hour_cents,
    triedListingIds: tried.map(({ id }) => id),
  });
}
