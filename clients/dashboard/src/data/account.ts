import { queryOptions } from '@tanstack/react-query';
import { api } from './client.js';

/** Who is signed in, and until when. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => api.auth.me({ signal }),
  staleTime: 60_000,
});
