import type { Rental } from '@gpu-rental/client';
import { familyName } from '../../format/machine.js';
import { rentalTexts } from '../../texts/rentals.js';
import type { RentalsSearch } from './search.js';

/** What a rental is called: its name, or its machine. */
export function rentalTitle({
  name,
  gpuCount,
  family,
}: Pick<Rental, 'name' | 'family'> & { readonly gpuCount: number }): string {
  return name ?? rentalTexts.machine(gpuCount, familyName(family));
}

/** Tells whether each word of a text is in what a rental shows. */
export function isFound(rental: Rental, q: string): boolean {
  const { id, name, labels, family, region, providerCode } = rental;
  const shown = [id, name ?? '', family, familyName(family), region, providerCode]
    .concat(Object.entries(labels).map(([key, value]) => `${key}:${value}`))
    .join(' ')
    .toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => shown.includes(word));
}

/** Tells whether a rental fits all filters. */
export function fits(rental: Rental, { q, status, label }: RentalsSearch): boolean {
  const [key = '', ...rest] = label?.split(':') ?? [];
  return (
    (status === undefined || rental.status === status) &&
    (label === undefined || rental.labels[key] === rest.join(':')) &&
    (q === undefined || isFound(rental, q))
  );
}
