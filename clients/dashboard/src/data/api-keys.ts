import type { CreateApiKey } from '@gpu-rental/client';
import { infiniteQueryOptions, useQueryClient } from '@tanstack/react-query';
import { api } from './client.js';
import { useMutation } from './use-mutation.js';

/** The keys of programs, newest first, page by page; those that have ended are among them for a while. */
export const apiKeysQuery = infiniteQueryOptions({
  queryKey: ['apiKeys'],
  queryFn: ({ pageParam, signal }) => api.apiKeys.list({}, { signal }).page(pageParam),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
});

/** How an action is done that may take a fresh sign-in (`useFreshProof`). */
type Run = <T>(action: () => Promise<T>) => Promise<T>;

/** Makes a key, which stands in this answer alone. */
export function useCreateApiKey(run: Run) {
  const again = useReadAgain();
  return useMutation({
    mutationFn: (key: CreateApiKey) => run(() => api.apiKeys.create(key)),
    // The key is not kept in the cache of mutations once its form is gone.
    gcTime: 0,
    onSettled: again,
  });
}

export function useChangeApiKey(id: string, run: Run) {
  const again = useReadAgain();
  return useMutation({
    mutationFn: (change: Parameters<typeof api.apiKeys.change>[1]) =>
      run(() => api.apiKeys.change(id, change)),
    onSettled: again,
  });
}

/** Revokes a key for good. */
export function useRevokeApiKey(id: string) {
  const again = useReadAgain();
  return useMutation({
    mutationFn: (also: NonNullable<Parameters<typeof api.apiKeys.revoke>[1]>) => api.apiKeys.revoke(id, also),
    onSettled: again,
  });
}

function useReadAgain(): () => Promise<void> {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: apiKeysQuery.queryKey });
}
