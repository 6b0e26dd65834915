import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { meQuery } from './account.js';
import { api } from './client.js';
import { useMutation } from './use-mutation.js';

const LOOK_EVERY_MS = 10_000;

/** What closing the account does, or how far it is: looked at again and again once it is being closed. */
export const closingQuery = queryOptions({
  queryKey: ['closing'],
  queryFn: ({ signal }) => api.account.closing({ signal }),
  refetchInterval: ({ state }) => ((state.data?.state ?? null) === null ? false : LOOK_EVERY_MS),
});

/**
 * Closes the account for good. What its answer says is read anew, also where it got lost.
 * @param run how an action is done that may take a fresh sign-in (`useFreshProof`)
 */
export function useCloseAccount(run: <T>(action: () => Promise<T>) => Promise<T>) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (email: string) => run(() => api.account.close({ email })),
    onSettled: () =>
      Promise.all([closingQuery, meQuery].map(({ queryKey }) => queryClient.invalidateQueries({ queryKey }))),
  });
}
