import type { EventType } from '@gpu-rental/client';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { api } from './client.js';

/** What happened to the account, newest first, page by page; of one type alone where it is given. */
export const eventsQuery = (type: EventType | undefined) =>
  infiniteQueryOptions({
    queryKey: ['events', type],
    queryFn: async ({ pageParam, signal }) => {
      const query = { pageSize: 50, ...(type !== undefined && { types: [type] }) };
      const page = await api.events.newestFirst(query, { signal }).page(pageParam);
      return { ...page, before: pageParam };
    },
    initialPageParam: undefined as number | undefined,
    // The feed is numbered from 1; a number that does not move is the oldest that is kept.
    getNextPageParam: ({ lastSeq, before }) => (lastSeq <= 1 || lastSeq === before ? undefined : lastSeq),
  });
