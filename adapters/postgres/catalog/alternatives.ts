import { otherCounts, similarFamilies } from '../../../domain/catalog/alternatives.js';
import { countriesOf } from '../../../domain/catalog/regions.js';
import type { ListingId } from '../../../domain/ids.js';
import { rentalLimits } from '../../../domain/rentals/limits.js';
import type { Database } from '../database.js';
import type { ListingRow } from '../rows/tables.js';
import { canStart, startsOf, type Wanted } from './offers.js';
import { liveProviderCodes } from './provider-health.js';

/** Which machines an alternative is not. */
export interface Besides {
  readonly listings: readonly ListingId[];
  /** The countries in which the same machine is no alternative. */
  readonly countries: readonly string[];
  /** Whether the same machine may cost more than was asked for: when there is none at that price. */
  readonly atAnyPrice: boolean;
}

/**
 * Finds up to three machines that can be had now instead of the one that is wanted, by the rule of
 * domain/catalog/alternatives.ts: the same in other countries, one for each; another number of its GPU; as many GPUs of
 * another family. The two last ones stay in the region, and below the price, that are asked for.
 */
export async function findAlternatives(
  db: Database,
  wanted: Wanted,
  besides: Besides,
): Promise<ListingRow[]> {
  const counts = otherCounts(wanted.gpuCount);
  const families = similarFamilies(wanted.familyId);
  const { rows } = await db.raw<{ rows: ListingRow[] }>(
    `with able as materialized (
       select array(select p.code from providers p
         where p.code = any (${liveProviderCodes})
           and p.code = any (:providerCodes::text[])) as codes
     ),
     elsewhere as (
       select distinct on (l.region_code) 1 as tier, 0::double precision as rank, l.*
         from listings l
        where ${fits}
          and l.family = :familyId and l.gpu_count = :gpuCount and l.region_code <> all (:countries::text[])
          and (:atAnyPrice or ${affordable})
        order by l.region_code, l.price_per_hour_cents, l.id
     ),
     other_counts as (
       select 2, c.rank, l.*
         from unnest(:counts::int[], :countRanks::double precision[]) as c (gpu_count, rank)
         cross join lateral (
           select l.* from listings l
            where ${fits} and ${inRegion} and ${affordable}
              and l.family = :familyId and l.gpu_count = c.gpu_count
            order by l.price_per_hour_cents, l.id limit 1) l
     ),
     other_families as (
       select 3, f.rank, l.*
         from unnest(:families::text[], :familyRanks::double precision[]) as f (family, rank)
         cross join lateral (
           select l.* from listings l
            where ${fits} and ${inRegion} and ${affordable}
              and l.family = f.family and l.gpu_count = :gpuCount
            order by l.price_per_hour_cents, l.id limit 1) l
     )
     select * from (
       select * from elsewhere union all select * from other_counts union all select * from other_families) found
      order by tier, rank, price_per_hour_cents, id limit :most`,
    {
      familyId: wanted.familyId,
      gpuCount: wanted.gpuCount,
      region: wanted.region === null ? null : [...countriesOf(wanted.region)],
      maxPrice: wanted.maxPricePerHourCents,
      starts: startsOf(wanted),
      providerCodes: [...wanted.providerCodes],
      except: [...besides.listings],
      countries: [...besides.countries],
      atAnyPrice: besides.atAnyPrice,
      counts: counts.map(({ kind }) => kind),
      countRanks: counts.map(({ rank }) => rank),
      families: families.map(({ kind }) => kind),
      familyRanks: families.map(({ rank }) => rank),
      most: rentalLimits.alternatives,
    },
  );
  return rows;
}

/** On sale now, able to start the template, and none of those that were tried. */
const fits = `l.offered and l.provider_code = any ((select codes from able)::text[])
  and ${canStart}
  and l.id <> all (:except::text[])`;
const inRegion = '(:region::text[] is null or l.region_code = any (:region::text[]))';
const affordable = '(:maxPrice::bigint is null or l.price_per_hour_cents <= :maxPrice::bigint)';
