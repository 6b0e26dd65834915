import type { ListingId } from '../../../domain/ids.js';
import type { Database } from '../database.js';
import { liveProviderCodes } from './provider-health.js';
import { runPrepared, type Prepared } from '../prepared.js';
import type { ListingRow } from '../rows/tables.js';

export interface ListingFilter {
  readonly familyId?: string;
  readonly model?: string;
  readonly minVramGb?: number;
  /** What a listing does not tell, it does not have. */
  readonly minVcpus?: number;
  readonly minMemoryGb?: number;
  readonly minDiskGb?: number;
  readonly gpuCount?: number;
  /** ISO country codes; absent for anywhere. */
  readonly regionCodes?: readonly string[];
  readonly maxPricePerHourCents?: number;
}

/** The last listing of the page before: the catalog is ordered by price, then id. */
export interface ListingKey {
  readonly pricePerHourCents: number;
  readonly id: ListingId;
}

/**
 * Lists live listings, cheapest first, ties by id. A listing is live when its provider offered it in a sync that is no
 * older than the freshness limit, by the database's clock (decision 13, "Live listings").
 */
export async function listLiveListings(
  db: Database,
  filter: ListingFilter,
  after: ListingKey | undefined,
  limit: number,
): Promise<ListingRow[]> {
  const query = db({ l: 'listings' })
    .select('l.*')
    .where('l.offered', true)
    .whereRaw(`l.provider_code = any (${liveProviderCodes})`)
    .orderBy(['l.price_per_hour_cents', 'l.id'])
    .limit(limit);
  if (filter.familyId !== undefined) void query.where('l.family', filter.familyId);
  if (filter.model !== undefined) void query.where('l.model', filter.model);
  const least = {
    vram_gb: filter.minVramGb,
    vcpus: filter.minVcpus,
    memory_gb: filter.minMemoryGb,
    disk_gb: filter.minDiskGb,
  };
  for (const [column, value] of Object.entries(least))
    if (value !== undefined) void query.where(`l.${column}`, '>=', value);
  if (filter.gpuCount !== undefined) void query.where('l.gpu_count', filter.gpuCount);
  if (filter.regionCodes !== undefined) void query.whereIn('l.region_code', filter.regionCodes);
  if (filter.maxPricePerHourCents !== undefined) {
    void query.where('l.price_per_hour_cents', '<=', filter.maxPricePerHourCents);
  }
  if (after !== undefined) {
    void query.whereRaw('(l.price_per_hour_cents, l.id) > (?, ?)', [after.pricePerHourCents, after.id]);
  }
  return query;
}

/** What of one upstream's listings is told: another number after each change. */
export type CatalogVersion = readonly (readonly [providerCode: string, version: number])[];

/**
 * Reads which listings listLiveListings would read now, without reading them: the live upstreams, each with the number of
 * the transaction that changed its listings last. Each change of a listing writes all rows of its upstream's families
 * (the trigger `count_families`), a sync that finds none writes none.
 */
export async function readCatalogVersion(db: Database): Promise<CatalogVersion> {
  const rows = await runPrepared<{ code: string; version: number }, readonly []>(db, catalogVersion, []);
  return rows.map(({ code, version }) => [code, version]);
}

const catalogVersion: Prepared<readonly []> = {
  name: 'catalog_version',
  sql: `select f.provider_code as code, max(f.xmin::text::bigint) as version
          from provider_families f
         where f.provider_code = any (${liveProviderCodes})
         group by f.provider_code
         order by f.provider_code`,
};

/** Finds a listing, also one that is no longer on offer; undefined when there never was one. */
export async function findListing(db: Database, id: ListingId): Promise<ListingRow | undefined> {
  return db('listings').where({ id }).first();
}

export interface FamilyOffer {
  readonly family: string;
  readonly fromPricePerHourCents: number;
  readonly liveCount: number;
}

/** Counts the live listings of each family, with the price of the cheapest. */
export async function summarizeFamilies(db: Database): Promise<FamilyOffer[]> {
  const { rows } = await db.raw<{ rows: FamilyOffer[] }>(
    `select f.family, min(f.from_price_per_hour_cents) as "fromPricePerHourCents", sum(f.listings) as "liveCount"
       from provider_families f
      where f.provider_code = any (${liveProviderCodes})
      group by f.family`,
  );
  return rows;
}
