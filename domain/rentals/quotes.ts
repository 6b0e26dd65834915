import type { QuoteId } from '../ids.js';
import { Refusal } from '../refusal.js';

/** The refusal of a quote that is not its user's, was pruned, or never was (decision 5, "Foreign ids"). */
export function noSuchQuote(): Refusal {
  return new Refusal('quote_not_found', 'You have no such quote. Get one with POST /v1/quotes.');
}

/**
 * The refusal of a quote that is asked for too late.
 * @param quote its id, and the last instant at which it may be asked for
 * @returns undefined while it holds
 */
export function refusalOfExpired(
  { id, expiresAt }: { readonly id: QuoteId; readonly expiresAt: Date },
  askedAt: Date,
): Refusal | undefined {
  if (askedAt <= expiresAt) return undefined;
  return new Refusal('quote_expired', 'This quote has expired, and nothing was rented with it.', {
    quoteId: id,
    expiresAt: expiresAt.toISOString(),
  });
}
