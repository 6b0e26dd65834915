import { catalogLimits } from '../../../domain/catalog/limits.js';
import { mostIdChars } from '../listed-pod.js';
import type { Oddity, Offer } from '../provider.js';

/**
 * Keeps the dearer price of an offer that an upstream lists twice: the price never rises after the answer. What a listing
 * can't hold is left out as an oddity, and the others are sold.
 */
export function dearestOfEach(offers: readonly Offer[], odd: (oddity: Oddity) => void): Offer[] {
  const dearest = new Map<string, Offer>();
  for (const offer of offers) {
    if (offer.pricePerHourCents > catalogLimits.mostPricePerHourCents || offer.offerId.length > mostIdChars) {
      odd({
        kind: 'malformed',
        subject: `offer ${offer.offerId} of ${offer.pricePerHourCents} cents an hour`,
      });
      continue;
    }
    const known = dearest.get(offer.offerId);
    if (known === undefined || known.pricePerHourCents < offer.pricePerHourCents)
      dearest.set(offer.offerId, offer);
  }
  return [...dearest.values()];
}
