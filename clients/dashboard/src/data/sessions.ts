import { infiniteQueryOptions, useQueryClient } from '@tanstack/react-query';
import { api } from './client.js';
import { useMutation } from './use-mutation.js';

/** Where the user is signed in, the newest sign-in first, page by page. */
export const sessionsQuery = infiniteQueryOptions({
  queryKey: ['sessions'],
  queryFn: ({ pageParam, signal }) => api.auth.sessions.list({}, { signal }).page(pageParam),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
});

/** Ends one session for good. */
export function useEndSession() {
  const again = useReadAgain();
  return useMutation({ mutationFn: (id: string) => api.auth.sessions.delete(id), onSettled: again });
}

/** Ends all other sessions. */
export function useEndOtherSessions() {
  const again = useReadAgain();
  return useMutation({ mutationFn: () => api.auth.sessions.endOthers(), onSettled: again });
}

function useReadAgain(): () => Promise<void> {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
}
