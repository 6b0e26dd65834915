import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from './client.js';

/** The SSH keys that enter machines rented from now on. */
export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => api.sshKeys.list({ signal }),
});

/** What `useAddKey` sends: a public key, or the wish for a pair. */
type NewKey = Parameters<typeof api.sshKeys.add>[0];

/**
 * Adds a key, and reads the list anew.
 * @param run does what may take a fresh sign-in (`useFreshProof`)
 */
export function useAddKey(run: <T>(action: () => Promise<T>) => Promise<T>) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (key: NewKey) => run(() => api.sshKeys.add(key)),
    // A private half is not kept in the cache of mutations once its form is gone.
    gcTime: 0,
    onSettled: () => queryClient.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
}

/** Removes a key, and reads the list anew. Machines that run keep it. */
export function useRemoveKey() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => api.sshKeys.delete(id),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
}
