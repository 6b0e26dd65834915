import { seedOfCommit } from '../../test/simulation/campaign.js';

/** One of a list, with its number in it, from 1 on. */
export interface Numbered<T> {
  readonly number: number;
  readonly one: T;
}

/**
 * Takes part of a list, in its order: what a short run plants is another part with each commit. It goes on at the beginning
 * after the end.
 * @param count how many; undefined: all of them, from the first on
 * @param from the number of the first; undefined: one that the commit makes
 */
export function sampleOf<T>(
  list: readonly T[],
  count: string | undefined,
  from: string | undefined,
): readonly Numbered<T>[] {
  const numbered = list.map((one, index) => ({ number: index + 1, one }));
  const first = Number(from ?? (count === undefined ? 1 : seedOfCommit())) - 1;
  const begin = first % list.length;
  return [...numbered.slice(begin), ...numbered.slice(0, begin)].slice(0, Number(count ?? list.length));
}
