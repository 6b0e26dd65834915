import type { Listing, NewRental } from '@gpu-rental/client';
import { guardFieldsOf } from '../rentals/idle-guard.js';
import type { GpuCount } from './gpu-counts.js';
import { gpuCounts } from './gpu-counts.js';
import { readWords, type FamilySearch } from './search.js';
import type { OwnSoftware } from './software-draft.js';

/** The machines of one place and number of GPUs: whoever asks for such a one gets the cheapest. */
export interface Offer {
  readonly cheapest: Listing;
  /** How many there are. */
  readonly count: number;
  /** The price of the dearest. */
  readonly highestCents: number;
}

/** The number of GPUs with the lowest price of each that is on offer. */
export function countOffers(
  listings: readonly Listing[],
): readonly { count: GpuCount; lowestCents: number }[] {
  return gpuCounts.flatMap((count) => {
    const cheapest = listings.find(({ gpuCount }) => gpuCount === count);
    return cheapest ? [{ count, lowestCents: cheapest.pricePerHourCents }] : [];
  });
}

/** Groups listings, which come cheapest first, by country. */
export function offersByCountry(listings: readonly Listing[], gpuCount: GpuCount): Offer[] {
  const offers = new Map<string, Offer>();
  for (const listing of listings.filter((one) => one.gpuCount === gpuCount)) {
    const { cheapest = listing, count = 0 } = offers.get(listing.regionCode) ?? {};
    offers.set(listing.regionCode, { cheapest, count: count + 1, highestCents: listing.pricePerHourCents });
  }
  return [...offers.values()];
}

/** What the service is asked for by the choices. */
export function requestOf(
  familyId: string,
  gpuCount: GpuCount,
  search: FamilySearch,
  keys: readonly string[] | undefined,
  own: OwnSoftware = {},
): NewRental {
  const { region, max, template, hours, spend } = search;
  return {
    familyId,
    gpuCount,
    ...(region !== undefined && { region }),
    ...(max !== undefined && { maxPricePerHourCents: max }),
    // The service names what it does not know, also of an address that somebody typed. An image runs instead of one.
    ...(template !== undefined &&
      own.image === undefined && { templateId: template as NonNullable<NewRental['templateId']> }),
    ...readWords(search),
    ...(hours !== undefined && { autoStopAfterHours: hours }),
    ...(spend !== undefined && { maxSpendCents: spend }),
    ...idleFieldsOf(search),
    ...(keys !== undefined && { sshKeyIds: [...keys] }),
    ...own,
  };
}

function idleFieldsOf({ idle, ignoreSessions, telemetry }: FamilySearch): Partial<NewRental> {
  return {
    ...(idle !== undefined && guardFieldsOf(idle, ignoreSessions === true)),
    ...(telemetry && { telemetry }),
  };
}
