import { Refusal } from '../refusal.js';

/** The refusal of a quote that is not its user's, was pruned, or never was (decision 5, "Foreign ids"). */
export function noSuchQuote(): Refusal {
  return new Refusal('quote_not_found', 'You have no such quote. Get one with POST /v1/quotes.');
}
