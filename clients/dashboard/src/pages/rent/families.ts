import type { Family, Listing } from '@gpu-rental/client';
import type { ListingFilter } from '../../data/catalog.js';
import { familyName } from '../../format/machine.js';
import { gpuCounts, type GpuCount } from './gpu-counts.js';
import type { FamilySearch, RentSearch } from './search.js';

/** A family as the list shows it: what of it fits the filters. */
export interface FamilyRow {
  readonly id: string;
  readonly name: string;
  /** The cheapest machine that fits; undefined while none does. */
  readonly cheapest: Listing | undefined;
  /** The lowest price an hour; null when nothing is on offer. */
  readonly lowestCents: number | null;
  /** How many offers fit. */
  readonly available: number;
  /** The memory of one GPU in GB, the smallest first. */
  readonly vramGb: readonly number[];
  readonly gpuCounts: readonly GpuCount[];
  /** The codes of the countries, the cheapest first. */
  readonly regionCodes: readonly string[];
}

/** A family of which something is on offer. */
export interface OfferedFamily extends FamilyRow {
  readonly lowestCents: number;
}

/** Tells whether something of a family is on offer. */
export function isOffered(row: FamilyRow): row is OfferedFamily {
  return row.lowestCents !== null;
}

/** The part of the filters that the service knows. */
export function listingFilterOf({ gpus, vram, cpus, ram, disk, max, region }: RentSearch): ListingFilter {
  return {
    ...(gpus !== undefined && { gpuCount: gpus }),
    ...(vram !== undefined && { minVramGb: vram }),
    ...(cpus !== undefined && { minVcpus: cpus }),
    ...(ram !== undefined && { minMemoryGb: ram }),
    ...(disk !== undefined && { minDiskGb: disk }),
    ...(region !== undefined && { region }),
    ...(max !== undefined && { maxPricePerHourCents: max }),
  };
}

/**
 * The filters that are choices of the form as well. A rental is not asked for by the size of its machine: with such a
 * filter the cheapest that fits is led to.
 */
export function choicesOf(search: RentSearch, cheapest: Listing | undefined): FamilySearch {
  const { cpus, ram, disk, max } = search;
  const isBySize = (cpus ?? ram ?? disk) !== undefined;
  const fitting = isBySize && cheapest ? { gpus: cheapest.gpuCount, region: cheapest.regionCode } : search;
  const { gpus, region } = fitting;
  return {
    ...(gpus !== undefined && { gpus }),
    ...(region !== undefined && { region }),
    ...(max !== undefined && { max }),
  };
}

/**
 * The families that the filters leave, in their order.
 * @param listings those that the service's filter left, cheapest first
 */
export function familyRows(
  families: readonly Family[],
  listings: readonly Listing[],
  search: RentSearch,
): FamilyRow[] {
  const isFiltered = Object.keys(listingFilterOf(search)).length > 0;
  return families
    .map((family) => rowOf(family, listings, isFiltered))
    .filter((row) => (row.available > 0 || !isFiltered) && isNamed(row, search.q))
    .sort(orders[search.sort ?? 'price']);
}

function rowOf({ family, ...offered }: Family, listings: readonly Listing[], isFiltered: boolean): FamilyRow {
  const fitting = listings.filter((listing) => listing.family === family);
  const [cheapest] = fitting;
  // Unfiltered, the service's own figures count: they know of machines beyond the listings that were read.
  const figures = isFiltered
    ? { lowestCents: cheapest?.pricePerHourCents ?? null, available: fitting.length }
    : { lowestCents: offered.fromPricePerHourCents, available: offered.liveCount };
  return {
    id: family,
    name: familyName(family),
    cheapest,
    ...figures,
    vramGb: distinct(fitting.map(({ vramGb }) => vramGb)).sort((a, b) => a - b),
    gpuCounts: gpuCounts.filter((count) => fitting.some(({ gpuCount }) => gpuCount === count)),
    regionCodes: distinct(fitting.map(({ regionCode }) => regionCode)),
  };
}

/** Each word of what is looked for is in the name or in the id. */
function isNamed({ id, name }: FamilyRow, q = ''): boolean {
  const text = `${id} ${name}`.toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

type Order = (a: FamilyRow, b: FamilyRow) => number;

const byName: Order = (a, b) => a.name.localeCompare(b.name, 'en', { numeric: true });
const byPrice: Order = (a, b) => (a.lowestCents ?? Infinity) - (b.lowestCents ?? Infinity) || byName(a, b);

const orders: Readonly<Record<NonNullable<RentSearch['sort']>, Order>> = {
  // Infinity less itself is no number: two families without an offer stand by name.
  price: (a, b) => (a.lowestCents === null && b.lowestCents === null ? byName(a, b) : byPrice(a, b)),
  memory: (a, b) => (b.vramGb.at(-1) ?? 0) - (a.vramGb.at(-1) ?? 0) || byName(a, b),
  offers: (a, b) => b.available - a.available || byName(a, b),
  name: byName,
};

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
