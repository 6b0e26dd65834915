import { countriesOf } from '../../../domain/catalog/regions.js';
import { inOrderOfCost, noStarts, startLimits, type KnownStarts } from '../../../domain/catalog/starts.js';
import { dearestBeside } from '../../../domain/rentals/open.js';
import { ownSoftwareId, type SoftwareOutline } from '../../../domain/rentals/software.js';
import type { ListingId } from '../../../domain/ids.js';
import type { Database, Transaction } from '../database.js';
import { liveProviderCodes } from './provider-health.js';
import type { ListingRow } from '../rows/tables.js';

export interface Wanted {
  readonly familyId: string;
  readonly gpuCount: number;
  readonly region: string | null;
  /** The upstreams to search: those that are configured and have what the rental starts from. */
  readonly providerCodes: readonly string[];
  /** null for any. Not every offer can start a template: its operating system or its kind may not fit. */
  readonly templateId: string | null;
  /** Absent: the template alone. What its upstream can't do of it is judged before (`providerCodes`). */
  readonly software?: SoftwareOutline | undefined;
  /** The highest price of an hour; null for any price. */
  readonly maxPricePerHourCents: number | null;
}

/** SQL that holds for a listing that can start all of `:starts`. */
export const canStart = `(l.template_ids is null or l.template_ids @> :starts::text[])`;

/** What an offer must be able to start. Not each that starts a template takes own software. */
export function startsOf({ templateId, software }: Pick<Wanted, 'templateId' | 'software'>): string[] {
  return [...(templateId === null ? [] : [templateId]), ...(software ? [ownSoftwareId] : [])];
}

/**
 * Finds the live listing that matches and costs least until a machine comes up (decision 176, "Failover that learns"): the
 * cheapest, ties by id, where nothing is known of any (decision 13, "Live listings").
 * @param tried listings that had no capacity
 * @param starts what is known of the machines that were asked for; absent: nothing, and only the price counts
 */
export async function findCheapestOffer(
  db: Database | Transaction,
  wanted: Wanted,
  tried: readonly ListingId[],
  starts: KnownStarts = noStarts,
): Promise<ListingRow | undefined> {
  const [best] = await findOffers(db, wanted, tried, starts);
  return best;
}

/**
 * Finds the offers among which `findCheapestOffer` takes the first: the cheapest ones, in the order in which they are to
 * be tried. None is much dearer than the cheapest, whatever may be paid.
 */
export async function findOffers(
  db: Database | Transaction,
  wanted: Wanted,
  tried: readonly ListingId[],
  starts: KnownStarts,
): Promise<ListingRow[]> {
  const cheapest = await readCheapest(db, wanted, tried, starts === noStarts ? 1 : startLimits.candidates);
  const dearest = dearestBeside(cheapest);
  return inOrderOfCost(
    cheapest.filter((row) => row.price_per_hour_cents <= dearest),
    starts,
  );
}

async function readCheapest(
  db: Database | Transaction,
  wanted: Wanted,
  tried: readonly ListingId[],
  limit: number,
): Promise<ListingRow[]> {
  const { rows } = await db.raw<{ rows: ListingRow[] }>(
    `select l.* from listings l
      where l.offered and l.family = :familyId and l.gpu_count = :gpuCount
        and l.provider_code = any (${liveProviderCodes})
        and (:countries::text[] is null or l.region_code = any (:countries::text[]))
        and (:maxPrice::int is null or l.price_per_hour_cents <= :maxPrice::int)
        and ${canStart}
        and l.provider_code = any (:providerCodes::text[])
        and l.id <> all (:tried::text[])
      order by l.price_per_hour_cents, l.id limit :limit::int`,
    {
      familyId: wanted.familyId,
      gpuCount: wanted.gpuCount,
      countries: wanted.region === null ? null : [...countriesOf(wanted.region)],
      maxPrice: wanted.maxPricePerHourCents,
      providerCodes: [...wanted.providerCodes],
      starts: startsOf(wanted),
      tried: [...tried],
      limit,
    },
  );
  return rows;
}
