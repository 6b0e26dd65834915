import { families } from './families.js';
import { catalogLimits } from './limits.js';

/**
 * The rule of alternatives (decision 104, "Quotes and alternatives"): the same machine in other countries, then another number of the
 * same GPU, then the same number of GPUs of similar families. A lower rank is offered first; equal ranks go by price.
 */

/** A kind of machine with its place among the alternatives. */
export interface Ranked<Kind> {
  readonly kind: Kind;
  readonly rank: number;
}

/** The other GPU counts, the nearest first; of two that are equally near, the larger. */
export function otherCounts(gpuCount: number): Ranked<number>[] {
  const nearness = (count: number) => 2 * Math.abs(Math.log2(count / gpuCount)) + (count < gpuCount ? 1 : 0);
  return catalogLimits.gpuCounts
    .filter((count) => count !== gpuCount)
    .map((count) => ({ kind: count, rank: nearness(count) }))
    .toSorted((a, b) => a.rank - b.rank);
}

/**
 * The other families: those whose GPUs have at least as much memory, the nearest first, then those with less, the
 * nearest first. Equal memory is an equal rank.
 */
export function similarFamilies(familyId: string): Ranked<string>[] {
  const wantedGb = families.find(({ id }) => id === familyId)?.vramGb;
  if (wantedGb === undefined) return [];
  const distance = (gb: number) => (gb >= wantedGb ? gb - wantedGb : 1_000_000 + wantedGb - gb);
  return families
    .filter(({ id }) => id !== familyId)
    .map(({ id, vramGb }) => ({ kind: id, rank: distance(vramGb) }))
    .toSorted((a, b) => a.rank - b.rank);
}
