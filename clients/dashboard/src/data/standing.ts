import { queryOptions } from '@tanstack/react-query';
import { api } from './client.js';

/** Whether the account is blocked or its card is not charged, and which payments were reversed. */
export const standingQuery = queryOptions({
  queryKey: ['standing'],
  queryFn: ({ signal }) => api.wallet.standing({ signal }),
});
