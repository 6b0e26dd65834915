import type { ListingRow } from '../../adapters/postgres/rows/tables.js';
import { refuseMisfits, refuseUnavailable } from '../../api/rentals/quotes.js';
import { misfitsFor } from './software.js';
import { otherCounts, similarFamilies } from '../../domain/catalog/alternatives.js';
import { countriesOf } from '../../domain/catalog/regions.js';
import type { RentalRequest } from '../../domain/rentals/request.js';
import type { Refusal } from '../../domain/refusal.js';
import { rentalLimits } from '../../domain/rentals/limits.js';
import { madeUpRecord } from './history.js';
import { matches } from './listings.js';
import { refusalByCode } from './refuse.js';
import type { World } from './world.js';

/** Finds the cheapest listing that a request matches. */
export function findCheapest(world: World, request: RentalRequest): ListingRow | undefined {
  return matching(world, request).find((row) => misfitsFor(row, request).length === 0);
}

function matching({ listings }: World, request: RentalRequest): ListingRow[] {
  return listings.filter((row) => row.family === request.familyId && matches(row, filterOf(request)));
}

/** The refusal of a request that nothing on offer meets. */
export function unavailable(world: World, request: RentalRequest): Refusal {
  const misfits = matching(world, request).flatMap((row) => misfitsFor(row, request));
  if (misfits.length > 0) return refuseMisfits(misfits);
  const alternatives = findAlternatives(world, request, undefined);
  const offers = { alternatives, recordOf: madeUpRecord };
  return refuseUnavailable(request, offers, refusalByCode('model_unavailable').message);
}

/**
 * Finds up to three machines that can be had instead of the one that a request asks for, or beside the one that was
 * found for it, by the rule of domain/catalog/alternatives.ts.
 */
export function findAlternatives(
  { listings }: World,
  request: RentalRequest,
  found: ListingRow | undefined,
): ListingRow[] {
  const { familyId, gpuCount, maxPricePerHourCents } = request;
  const filter = filterOf(request);
  const same = listings.filter(
    (row) =>
      row.family === familyId &&
      row.gpu_count === gpuCount &&
      row.region_code !== found?.region_code &&
      (found === undefined || row.price_per_hour_cents <= (maxPricePerHourCents ?? Infinity)),
  );
  const elsewhere = same.filter(
    (row, index) => same.findIndex((each) => each.region_code === row.region_code) === index,
  );
  const counts = otherCounts(gpuCount).flatMap(({ kind }) => {
    const row = listings.find(
      (each) => each.family === familyId && matches(each, { ...filter, gpuCount: kind }),
    );
    return row ? [row] : [];
  });
  const others = similarFamilies(familyId)
    .flatMap(({ kind, rank }) => {
      const row = listings.find((each) => each.family === kind && matches(each, filter));
      return row ? [{ row, rank }] : [];
    })
    .toSorted((a, b) => a.rank - b.rank || a.row.price_per_hour_cents - b.row.price_per_hour_cents)
    .map(({ row }) => row);
  return [...elsewhere, ...counts, ...others].slice(0, rentalLimits.alternatives);
}

function filterOf({ gpuCount, region, maxPricePerHourCents }: RentalRequest) {
  return {
    gpuCount,
    ...(region !== null && { regionCodes: countriesOf(region) }),
    ...(maxPricePerHourCents !== null && { maxPricePerHourCents }),
  };
}
