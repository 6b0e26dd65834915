import { useQueryClient } from '@tanstack/react-query';
import { meQuery } from './account.js';
import { api } from './client.js';
import { useMutation } from './use-mutation.js';

/** Has a code mailed to whoever is signed in. */
export function useMailProofCode() {
  return useMutation({ mutationFn: () => api.auth.refreshProof() });
}

/** Shows by the mailed code who this is: the sign-in counts as fresh for a while, and the session has another cookie. */
export function useGiveProofCode() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (code: string) => api.auth.refreshProof({ code }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: meQuery.queryKey }),
  });
}
