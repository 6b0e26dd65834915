import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { rentalQuery, rentalsQuery } from '../../data/rentals.js';
import { rentalLabels } from './rental-labels.js';

/**
 * What the newest rentals are called, by their ids, and one more.
 * @param rental the id of that one
 * @returns also whether that one is still being read
 */
export function useRentalLabels(rental?: string) {
  const { data } = useInfiniteQuery(rentalsQuery());
  const newest = data?.pages[0]?.rentals;
  const isKnown = rental === undefined || newest?.some(({ id }) => id === rental) === true;
  const one = useQuery({ ...rentalQuery(rental ?? ''), enabled: newest !== undefined && !isKnown });
  const labels = useMemo(
    () => rentalLabels([...(newest ?? []), ...(one.data && !isKnown ? [one.data] : [])]),
    [newest, one.data, isKnown],
  );
  return { labels, isReading: !isKnown && one.isPending };
}
