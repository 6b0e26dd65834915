import type { Offer } from '../provider.js';

/** Should an upstream ever list one offer twice, the dearer price stands: the price never rises after the answer. */
export function dearestOfEach(offers: readonly Offer[]): Offer[] {
  const dearest = new Map<string, Offer>();
  for (const offer of offers) {
    const known = dearest.get(offer.offerId);
    if (known === undefined || known.pricePerHourCents < offer.pricePerHourCents)
      dearest.set(offer.offerId, offer);
  }
  return [...dearest.values()];
}
