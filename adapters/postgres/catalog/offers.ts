import { countriesOf } from '../../../domain/catalog/regions.js';
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
 * Finds the cheapest live listing that matches, ties by id (decision 13, "Live listings").
 * @param tried listings that had no capacity
 */
export async function findCheapestOffer(
  db: Database | Transaction,
  wanted: Wanted,
  tried: readonly ListingId[],
): Promise<ListingRow | undefined> {
  const { rows } = await db.raw<{ rows: ListingRow[] }>(
    `select l.* from listings l
      where l.offered and l.family = :familyId and l.gpu_count = :gpuCount
        and l.provider_code = any (${liveProviderCodes})
        and (:countries::text[] is null or l.region_code = any (:countries::text[]))
        and (:maxPrice::int is null or l.price_per_hour_cents <= :maxPrice::int)
        and ${canStart}
        and l.provider_code = any (:providerCodes::text[])
        and l.id <> all (:tried::text[])
      order by l.price_per_hour_cents, l.id limit 1`,
    {
      familyId: wanted.familyId,
      gpuCount: wanted.gpuCount,
      countries: wanted.region === null ? null : [...countriesOf(wanted.region)],
      maxPrice: wanted.maxPricePerHourCents,
      providerCodes: [...wanted.providerCodes],
      starts: startsOf(wanted),
      tried: [...tried],
    },
  );
  return rows[0];
}
