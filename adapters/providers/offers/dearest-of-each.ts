import type { Offer } from '../provider.js';

/** Keeps the dearer price of an offer that an upstream lists twice: the price never rises after the answer. */
export function dearestOfEach(offers: readonly Offer[]): Offer[] {
  const dearest = new Map<string, Offer>();
  for (const offer of offers) {
    const known = dearest.get(offer.offerId);
    if (known === undefined || known.pricePerHourCents < offer.pricePerHourCents)
      dearest.set(offer.offerId, offer);
  }
  return [...dearest.values()];
}
