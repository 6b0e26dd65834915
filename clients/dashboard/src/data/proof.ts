import { useQueryClient } from '@tanstack/react-query';
import { serviceTimeAt } from '../live/service-clock.js';
import { meQuery } from './account.js';
import { api } from './client.js';
import { useMutation } from './use-mutation.js';

/** What is about to be asked for takes a moment. */
const SOON_MS = 10_000;

/** Whether the sign-in counts as fresh, for a moment at least. */
export async function isFresh(): Promise<boolean> {
  const { freshUntil } = await api.auth.me();
  return freshUntil !== null && Date.parse(freshUntil) - serviceTimeAt(Date.now()) > SOON_MS;
}

/** Has a code mailed to whoever is signed in. */
export function useMailProofCode() {
  return useMutation({ mutationFn: () => api.auth.refreshProof() });
}

/** Shows by the mailed code who this is: the sign-in counts as fresh for a while, and the session has another cookie. */
export function useGiveProofCode() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (code: string) => api.auth.refreshProof({ code }),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: meQuery.queryKey }),
  });
}
