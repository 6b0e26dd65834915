import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { api } from './client.js';
import { useMutation } from './use-mutation.js';

/** The SSH keys that enter machines rented from now on. */
export const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: ({ signal }) => api.sshKeys.list({ signal }),
});

/** Removes a key, and reads the list anew. Machines that run keep it. */
export function useRemoveKey() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => api.sshKeys.delete(id),
    onSettled: () => queryClient.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
}
