import { queryOptions } from '@tanstack/react-query';
import { heardServiceTime } from '../live/service-clock.js';
import { api } from './client.js';

/** The wallet's sums, which the stream keeps fresh. */
export const balanceQuery = queryOptions({
  queryKey: ['balance'],
  queryFn: async ({ signal }) => {
    const balance = await api.wallet.get({ signal });
    heardServiceTime(balance.updatedAt, Date.now());
    return balance;
  },
});
