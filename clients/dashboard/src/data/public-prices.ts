import { isApiError } from '@gpu-rental/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from './client.js';

/** The families with their lowest prices before anybody has signed in; none where the service keeps them to its users. */
export const publicPricesQuery = queryOptions({
  queryKey: ['publicPrices'],
  queryFn: async ({ signal }) => {
    try {
      return await api.catalog.families({ signal });
    } catch (error) {
      // Nobody was signed out by it.
      if (isApiError(error, 'unauthorized')) return [];
      throw error;
    }
  },
  staleTime: 60_000,
});
