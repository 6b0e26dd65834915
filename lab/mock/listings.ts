import type { FamilyOffer, ListingFilter, ListingKey } from '../../adapters/postgres/catalog/listings.js';
import type { ListingRow } from '../../adapters/postgres/rows/tables.js';
import { findCountry } from '../../adapters/providers/offers/regions.js';
import { findGpuModel } from '../../adapters/providers/offers/gpu-models.js';
import { newId } from '../../adapters/ids.js';
import { getLabGpu, labOffers, type LabOffer } from '../provider/offers.js';

/** The families that the mock's catalog covers (spec: the development mock backend). */
export const mockFamilies: readonly string[] = [
  'rtx-4090',
  'rtx-5090',
  'l40s',
  'a100-80gb',
  'h100-80gb',
  'b200',
];

/** The lab's offers of these families: the local stack sells the same machines at the same prices. */
export function createListings(at: Date): readonly ListingRow[] {
  return labOffers
    .flatMap((offer) => listingOf(offer, at))
    .sort((a, b) => a.price_per_hour_cents - b.price_per_hour_cents || (a.id < b.id ? -1 : 1));
}

function listingOf(offer: LabOffer, at: Date): ListingRow[] {
  const { vramGb } = getLabGpu(offer);
  const gpu = findGpuModel('shadeform', { name: offer.gpuType, interconnect: offer.interconnect, vramGb });
  const country = findCountry(offer.cloud, offer.region, offer.label);
  if (!gpu || country === undefined)
    throw new Error(`the catalog does not know ${offer.type} of ${offer.cloud}`);
  if (!mockFamilies.includes(gpu.family)) return [];
  return [
    {
      id: newId('lst'),
      provider_code: 'mock',
      offer_id: `${offer.cloud}/${offer.type}/${offer.region}`,
      model: gpu.model,
      family: gpu.family,
      vram_gb: gpu.vramGb,
      gpu_count: offer.gpuCount,
      price_per_hour_cents: offer.priceCents,
      region: offer.label,
      region_code: country,
      interconnect: offer.interconnect,
      offered: true,
      max_boot_ms: null,
      template_ids: null,
      created_at: at,
      offer_changed_at: at,
      // As the lab's own upstream tells them.
      vcpus: offer.gpuCount * 8,
      memory_gb: offer.gpuCount * 64,
      disk_gb: 256,
      network_mbps: null,
      cuda_version: null,
      driver_version: null,
      available_until: null,
      host: null,
    },
  ];
}

/** Finds a page of the catalog, cheapest first, ties by id. */
export function findListings(
  listings: readonly ListingRow[],
  filter: ListingFilter,
  after: ListingKey | undefined,
  limit: number,
): ListingRow[] {
  return listings
    .filter((row) => matches(row, filter) && (after === undefined || isBeyond(row, after)))
    .slice(0, limit);
}

/** Tells whether a listing fits the filter. */
export function matches(row: ListingRow, filter: ListingFilter): boolean {
  const { gpuCount, regionCodes, maxPricePerHourCents = Infinity } = filter;
  return (
    isOfKind(row, filter) &&
    hasEnough(row, filter) &&
    (gpuCount === undefined || row.gpu_count === gpuCount) &&
    (regionCodes === undefined || regionCodes.includes(row.region_code)) &&
    row.price_per_hour_cents <= maxPricePerHourCents
  );
}

function hasEnough(row: ListingRow, filter: ListingFilter): boolean {
  const { minVramGb = 0, minVcpus = 0, minMemoryGb = 0, minDiskGb = 0 } = filter;
  const has = [row.vram_gb, row.vcpus ?? 0, row.memory_gb ?? 0, row.disk_gb ?? 0];
  return [minVramGb, minVcpus, minMemoryGb, minDiskGb].every((least, index) => (has[index] ?? 0) >= least);
}

function isOfKind(row: ListingRow, { familyId = row.family, model = row.model }: ListingFilter): boolean {
  return row.family === familyId && row.model === model;
}

function isBeyond(row: ListingRow, after: ListingKey): boolean {
  const byPrice = row.price_per_hour_cents - after.pricePerHourCents;
  return byPrice > 0 || (byPrice === 0 && row.id > after.id);
}

/** Each family on offer, with the number of its listings and the cheapest one's price. */
export function offeredFamilies(listings: readonly ListingRow[]): FamilyOffer[] {
  return mockFamilies.map((family) => {
    const ofFamily = listings.filter((row) => row.family === family);
    return {
      family,
      fromPricePerHourCents: Math.min(...ofFamily.map((row) => row.price_per_hour_cents)),
      liveCount: ofFamily.length,
    };
  });
}
