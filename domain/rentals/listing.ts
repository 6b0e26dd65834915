import type { RentalStatus } from './rental.js';

/** The states in which a rental still has a machine, or may have one. */
export const liveStatuses = ['provisioning', 'running', 'stopping'] as const satisfies RentalStatus[];

/** The orders in which rentals are listed (decision 143, "Sorted rentals"). */
export const rentalSorts = ['newest', 'oldest', 'name', 'price', 'cost'] as const;
export type RentalSort = (typeof rentalSorts)[number];

/** More than any rental can cost, in cents. */
export const liveAbove = 1_000_000_000_000;

/** A rental as far as its place in a list depends on it. Amounts in cents. */
export interface SortedRental {
  readonly status: RentalStatus;
  readonly name: string | null;
  readonly price_per_hour_cents: number;
  readonly charged_cents: number;
  readonly refunded_cents: number;
}

/**
 * By what a rental is sorted before its age, as a cursor tells it; null: by its age alone, and of names: it has none. By
 * cost those that live come first: what they cost rises while somebody reads page after page, what has ended stays.
 */
export function sortValueOf(sort: RentalSort, rental: SortedRental): string | number | null {
  if (sort === 'name') return rental.name;
  if (sort === 'price') return rental.price_per_hour_cents;
  if (sort !== 'cost') return null;
  const isLive = liveStatuses.some((status) => status === rental.status);
  return (isLive ? liveAbove : 0) + rental.charged_cents - rental.refunded_cents;
}

/** Whether the order goes from the least to the greatest. */
export const isRising = (sort: RentalSort): boolean => sort === 'oldest' || sort === 'name';

/** How many words a search may have: each is looked for in all rentals of a user. */
export const searchMaxWords = 8;

/** The words of a search, each of which stands anywhere in what a rental shows. */
export function searchWords(search: string): string[] {
  return search.split(/\s+/).filter((word) => word !== '');
}
