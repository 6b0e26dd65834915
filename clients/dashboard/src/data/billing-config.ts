import { queryOptions } from '@tanstack/react-query';
import { api } from './client.js';

/** Currency and the smallest and largest amount. */
export const billingConfigQuery = queryOptions({
  queryKey: ['billingConfig'],
  queryFn: ({ signal }) => api.wallet.config({ signal }),
  staleTime: 60 * 60_000,
});
