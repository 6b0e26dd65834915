import type { LedgerRows } from './rows.js';

/** What browsers can make one element high: some stop at 17 million pixels. */
const MAX_ROWS = 200_000;

/** The lines of a list. */
export interface Span extends Pick<LedgerRows, 'count' | 'isWhole' | 'olderThan'> {
  /** The number of the first line. */
  readonly newest: number;
}

/** Which lines a list has, from its newest number down to its oldest, or as many as one list can hold. */
export function spanOf(newest: number | undefined, oldest: number | undefined, most = MAX_ROWS): Span {
  if (newest === undefined || oldest === undefined || newest < oldest) {
    return { newest: newest ?? 0, count: 0, isWhole: true, olderThan: undefined };
  }
  const count = Math.min(newest - oldest + 1, most);
  const last = newest - count + 1;
  return { newest, count, isWhole: last === oldest, olderThan: last > oldest ? last : undefined };
}
