import type { Rental } from '@gpu-rental/client';
import { fullTime } from '../../format/time.js';
import { rentalTexts } from '../../texts/rentals.js';
import { rentalTitle } from '../rentals/matching.js';

/** What rentals are called, by their ids, where nothing else tells them apart: namesakes also tell when they began. */
export function rentalLabels(rentals: readonly Rental[]): ReadonlyMap<string, string> {
  const counts = new Map<string, number>();
  for (const rental of rentals) {
    const title = rentalTitle(rental);
    counts.set(title, (counts.get(title) ?? 0) + 1);
  }
  return new Map(
    rentals.map((rental) => {
      const title = rentalTitle(rental);
      const isAlone = counts.get(title) === 1;
      return [rental.id, isAlone ? title : [title, fullTime(rental.startedAt)].join(rentalTexts.separator)];
    }),
  );
}
