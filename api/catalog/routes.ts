import * as declared from './describe.js';
import { serve, withoutBody, type Handler } from '../http/serve.js';
import {
  listLiveListings,
  readCatalogVersion,
  summarizeFamilies,
  type FamilyOffer,
  type ListingFilter,
  type ListingKey,
} from '../../adapters/postgres/catalog/listings.js';
import type { ListingRow } from '../../adapters/postgres/rows/tables.js';
import { families } from '../../domain/catalog/families.js';
import { catalogLimits } from '../../domain/catalog/limits.js';
import { isId } from '../../domain/ids.js';
import { countriesOf } from '../../domain/catalog/regions.js';
import { defaultTemplateId, templates } from '../../domain/catalog/templates.js';
import type { ApiDeps, ApiRouter } from '../context.js';
import { pageOf, readCursor } from '../http/cursor.js';
import { toStrangers } from './public-prices.js';
import { knownRecords, type RecordOf } from './known-reliability.js';
import { isKnownVersion } from '../http/known-version.js';
import { type Read } from '../http/fields.js';
import { readQuery } from '../http/validation.js';

/** The routes of what can be rented (spec: GET /v1/catalog/listings; decision 13, "Live listings"). */
export function catalogRoutes(router: ApiRouter, deps: ApiDeps): void {
  serve(router, deps, declared.listListings, showListings(deps));
  serve(router, deps, declared.listFamilies, showFamilies(deps));
  serve(router, deps, declared.listTemplates, () => Promise.resolve(presentTemplates()));
}

/** One more whenever presentListing tells something else of the same row. */
const ANSWER_FORM = 3;

function showListings(deps: ApiDeps): Handler<typeof declared.listListings> {
  return async (ctx) => {
    const query = readQuery(ctx, declared.listingQuery);
    const after = readCursor(query.cursor, isListingKey);
    // Both are read before the listings: a change in between is told under an older version, and never the other way.
    const version = await readCatalogVersion(deps.db);
    const records = await knownRecords(deps.db);
    if (isKnownVersion(ctx, [ANSWER_FORM, version, records.version])) return withoutBody;
    const rows = await listLiveListings(deps.db, filterOf(query), after && keyOf(after), query.pageSize + 1);
    const { page, nextCursor } = pageOf(rows, query.pageSize, (row) => [row.price_per_hour_cents, row.id]);
    return { listings: page.map((row) => presentListing(row, records.recordOf)), nextCursor };
  };
}

function showFamilies(deps: ApiDeps): Handler<typeof declared.listFamilies> {
  const read = async () => ({ families: presentFamilies(await summarizeFamilies(deps.db)) });
  const tell = toStrangers(read);
  return (ctx) => (ctx.state.caller ? read() : tell(ctx));
}

/** Every family, with its offers. */
export function presentFamilies(offered: readonly FamilyOffer[]) {
  const offers = new Map(offered.map((offer) => [offer.family, offer]));
  return families.map((family) => ({
    family: family.id,
    models: family.models,
    fromPricePerHourCents: offers.get(family.id)?.fromPricePerHourCents ?? null,
    liveCount: offers.get(family.id)?.liveCount ?? 0,
  }));
}

/** Every template. */
export function presentTemplates() {
  return {
    templates: templates.map((template) => ({ ...template, isDefault: template.id === defaultTemplateId })),
  };
}

/** The filter of the listings for a query. */
export function filterOf(query: Read<typeof declared.listingQuery>): ListingFilter {
  const { familyId, model, gpuCount, region, maxPricePerHourCents } = query;
  return {
    ...(familyId !== undefined && { familyId }),
    ...(model !== undefined && { model }),
    ...leastOf(query),
    ...(gpuCount !== undefined && { gpuCount }),
    ...(region !== undefined && { regionCodes: countriesOf(region) }),
    ...(maxPricePerHourCents !== undefined && { maxPricePerHourCents: Math.floor(maxPricePerHourCents) }),
  };
}

const least = ['minVramGb', 'minVcpus', 'minMemoryGb', 'minDiskGb'] as const;

/**
 * The columns are whole numbers, so a bound between two of them is the next one inside. A bound of nothing leaves what is
 * not told.
 */
function leastOf(query: Read<typeof declared.listingQuery>): Pick<ListingFilter, (typeof least)[number]> {
  return Object.fromEntries(
    least.flatMap((name) => ((query[name] ?? 0) > 0 ? [[name, Math.ceil(query[name] ?? 0)]] : [])),
  );
}

type ListingCursor = [price: number, id: ListingKey['id']];

export function isListingKey(value: readonly unknown[]): value is ListingCursor {
  const [price, id] = value;
  return value.length === 2 && isPrice(price) && typeof id === 'string' && isId('lst', id);
}

function isPrice(value: unknown): boolean {
  const { mostPricePerHourCents: most } = catalogLimits;
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= most;
}

export function keyOf([pricePerHourCents, id]: ListingCursor): ListingKey {
  return { pricePerHourCents, id };
}

/** A listing on read, with what is known of such machines (decision 106, "Progress and reliability"). */
export function presentListing(row: ListingRow, recordOf: RecordOf) {
  return {
    id: row.id,
    model: row.model,
    family: row.family,
    vramGb: row.vram_gb,
    gpuCount: row.gpu_count,
    pricePerHourCents: row.price_per_hour_cents,
    providerCode: row.provider_code,
    region: row.region,
    regionCode: row.region_code,
    interconnect: row.interconnect,
    vcpus: row.vcpus,
    memoryGb: row.memory_gb,
    diskGb: row.disk_gb,
    networkMbps: row.network_mbps,
    cudaVersion: row.cuda_version,
    driverVersion: row.driver_version,
    availableUntil: row.available_until?.toISOString() ?? null,
    ...recordOf(row),
  };
}
