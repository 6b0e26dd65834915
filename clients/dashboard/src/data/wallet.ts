import { queryOptions } from '@tanstack/react-query';
import { api } from './client.js';

/** The wallet's sums, which the stream keeps fresh. */
export const balanceQuery = queryOptions({
  queryKey: ['balance'],
  queryFn: ({ signal }) => api.wallet.get({ signal }),
});
