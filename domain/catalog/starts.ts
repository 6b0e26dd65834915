import { DAY, HOUR, SECOND } from '../durations.js';

/**
 * How failover learns (decision 176, "Failover that learns"): what came of the machines that were lately asked for.
 */
export const startLimits = {
  /** How far back starts count, and how many of the newest are read. */
  windowHours: DAY / HOUR,
  mostRead: 20_000,
  /** After so many hours a start counts half. */
  halfLifeHours: 6,
  /** What is expected where nothing is known: as after this many starts. */
  prior: { succeeded: 19, asked: 20 },
  /**
   * What is known of the upstream's machines of the family in the region counts for one of its offers as so many starts of
   * its own. Above `prior.asked` a failure could lift its offer above another one of these.
   */
  othersCount: 4,
  /** Who asks again within this time, in milliseconds, is told the same. */
  freshMs: 2 * SECOND,
  /** So many of the cheapest offers are compared. */
  candidates: 32,
} as const;

/** Of which offer a start was. */
export interface StartedOffer {
  readonly id: string;
  readonly provider_code: string;
  readonly family: string;
  readonly region_code: string;
}

/** What came of the machines of one offer that were asked for so many whole hours ago. */
export interface CountedStarts {
  readonly offer: StartedOffer;
  readonly hoursAgo: number;
  readonly succeeded: number;
  /** Those that the upstream did not deliver. */
  readonly failed: number;
}

/** The starts of one offer in the window, as renters are told. */
export interface RecentStarts {
  readonly succeeded: number;
  readonly asked: number;
}

export interface KnownStarts {
  /** The chance that a machine of the offer comes up, above 0 and below 1. */
  chanceOf(offer: StartedOffer): number;
  /** By the offer's id; none where none was asked for. */
  readonly recent: ReadonlyMap<string, RecentStarts>;
}

/**
 * Returns what the counts teach. The chance is the mean of a beta distribution: an offer's own starts are added to what is
 * known of its upstream, family and region, and those to the prior; each start counts the less the older it is.
 */
export function learnFrom(counts: readonly CountedStarts[]): KnownStarts {
  const ofGroup = new Map<string, Weighed>();
  const ofOffer = new Map<string, Weighed>();
  const recent = new Map<string, RecentStarts>();
  for (const { offer, hoursAgo, succeeded, failed } of counts) {
    const weight = 0.5 ** (hoursAgo / startLimits.halfLifeHours);
    const weighed = { succeeded: succeeded * weight, asked: (succeeded + failed) * weight };
    add(ofGroup, groupOf(offer), weighed);
    add(ofOffer, offer.id, weighed);
    add(recent, offer.id, { succeeded, asked: succeeded + failed });
  }
  return {
    chanceOf: (offer) => {
      const expected = meanOf(startLimits.prior, ofGroup.get(groupOf(offer)));
      const { othersCount: asked } = startLimits;
      return meanOf({ succeeded: expected * asked, asked }, ofOffer.get(offer.id));
    },
    recent,
  };
}

/** What is known where nothing was asked for yet. */
export const noStarts = learnFrom([]);

/** Counts, by their weights. */
interface Weighed {
  readonly succeeded: number;
  readonly asked: number;
}

function groupOf({ provider_code, family, region_code }: StartedOffer): string {
  return `${provider_code} ${family} ${region_code}`;
}

function add(to: Map<string, Weighed>, key: string, { succeeded, asked }: Weighed): void {
  const before = to.get(key) ?? { succeeded: 0, asked: 0 };
  to.set(key, { succeeded: before.succeeded + succeeded, asked: before.asked + asked });
}

function meanOf(prior: Weighed, { succeeded, asked }: Weighed = { succeeded: 0, asked: 0 }): number {
  return (prior.succeeded + succeeded) / (prior.asked + asked);
}

/**
 * Orders offers by what a machine costs until one comes up: the price divided by the chance. Equal ones go by price, then
 * by id.
 */
export function inOrderOfCost<Offer extends StartedOffer & { readonly price_per_hour_cents: number }>(
  offers: readonly Offer[],
  { chanceOf }: Pick<KnownStarts, 'chanceOf'>,
): Offer[] {
  return offers
    .map((offer) => ({
      offer,
      price: offer.price_per_hour_cents,
      cost: offer.price_per_hour_cents / chanceOf(offer),
    }))
    .toSorted((a, b) => a.cost - b.cost || a.price - b.price || (a.offer.id < b.offer.id ? -1 : 1))
    .map(({ offer }) => offer);
}
