import { queryOptions } from '@tanstack/react-query';
import { api } from './client.js';

/** The sums between two instants, and by the values of a label where a key is given. */
export const statementQuery = (from: string, to: string, labelKey: string | undefined) =>
  queryOptions({
    queryKey: ['statement', from, to, labelKey],
    queryFn: ({ signal }) =>
      api.wallet.statement(
        { from, to, ...(labelKey !== undefined && { groupBy: `label:${labelKey}` }) },
        { signal },
      ),
  });

/** What rentals cost between two instants, by day (UTC). */
export const spendingQuery = (from: string, to: string) =>
  queryOptions({
    queryKey: ['spending', from, to],
    queryFn: ({ signal }) => api.wallet.spending({ from, to }, { signal }),
  });

/** The last rentals, and the keys of their labels, by which a statement can be grouped. */
export const lastRentalsQuery = queryOptions({
  queryKey: ['rentals', 'names'],
  queryFn: async ({ signal }) => {
    const rentals = await api.rentals.list({ pageSize: 200 }, { signal }).toArray(1_000);
    return { rentals, labelKeys: [...new Set(rentals.flatMap(({ labels }) => Object.keys(labels)))].sort() };
  },
  staleTime: 60_000,
});
