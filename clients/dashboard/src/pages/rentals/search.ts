import type { RentalStatus } from '@gpu-rental/client';
import type { RentalSort } from '../../data/rentals.js';

export const rentalStatuses = [
  'provisioning',
  'running',
  'stopping',
  'stopped',
  'failed',
] as const satisfies RentalStatus[];

/** The orders of the list, the usual one first. */
export const rentalSorts = ['newest', 'oldest', 'name', 'price', 'cost'] as const satisfies RentalSort[];

/** What the address of the list of rentals tells: its filters. */
export interface RentalsSearch {
  /** A part of what a rental shows. */
  readonly q?: string;
  readonly status?: RentalStatus;
  /** `key:value`. */
  readonly label?: string;
  /** Newest first unless told. */
  readonly sort?: RentalSort;
}

/** Reads the filters of the address; what is none of them is left out. */
export function readRentalsSearch(search: Readonly<Record<string, unknown>>): RentalsSearch {
  const { q, label } = search;
  const status = rentalStatuses.find((one) => one === search['status']);
  const sort = rentalSorts.slice(1).find((one) => one === search['sort']);
  return {
    // An address shows a text of digits alone as a number.
    ...((typeof q === 'string' || typeof q === 'number') && q !== '' && { q: q.toString() }),
    ...(status !== undefined && { status }),
    ...(typeof label === 'string' && isLabel(label) && { label }),
    ...(sort !== undefined && { sort }),
  };
}

/** Tells whether a text is a label as the service filters by: `key:value`, where the value may be empty. */
export function isLabel(text: string): boolean {
  return /^[a-z0-9][a-z0-9_.-]{0,62}:[^\p{Cc}]{0,255}$/u.test(text);
}
