import type { Rental } from '@gpu-rental/client';
import { familyName } from '../../format/machine.js';
import { rentalTexts } from '../../texts/rentals.js';

/** What a rental is called: its name, or its machine. */
export function rentalTitle({
  name,
  gpuCount,
  family,
}: Pick<Rental, 'name' | 'family'> & { readonly gpuCount: number }): string {
  return name ?? rentalTexts.machine(gpuCount, familyName(family));
}
