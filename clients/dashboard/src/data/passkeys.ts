import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { meQuery } from './account.js';
import { api } from './client.js';
import { assertCookieKept } from './sign-in.js';
import { useMutation } from './use-mutation.js';
import { makePasskey, showPasskey, type ShownPasskey } from './webauthn.js';

/** All passkeys of the user, oldest first. */
export const passkeysQuery = queryOptions({
  queryKey: ['passkeys'],
  queryFn: ({ signal }) => api.auth.passkeys.list({ signal }),
});

/**
 * Adds a passkey of this device.
 * @param run does what may take a fresh sign-in (`useFreshProof`)
 */
export function useAddPasskey(run: <T>(action: () => Promise<T>) => Promise<T>) {
  const again = useReadAgain();
  return useMutation({
    mutationFn: async (name: string) => {
      const credential = await makePasskey(await run(() => api.auth.passkeys.begin()));
      return run(() => api.auth.passkeys.add({ name, credential }));
    },
    onSettled: again,
  });
}

export function useRenamePasskey() {
  const again = useReadAgain();
  return useMutation({
    mutationFn: ({ id, name }: { readonly id: string; readonly name: string }) =>
      api.auth.passkeys.rename(id, name),
    onSettled: again,
  });
}

export function useRemovePasskey() {
  const again = useReadAgain();
  return useMutation({ mutationFn: (id: string) => api.auth.passkeys.delete(id), onSettled: again });
}

/** Begins a sign-in by a passkey. */
export const beginSignIn = () => api.auth.passkeys.beginSignIn();

/** Signs in by a passkey: one that the browser has suggested, or one that it asks for. */
export function useSignInByPasskey() {
  return useMutation({
    mutationFn: async (suggested: ShownPasskey | undefined) => {
      const credential = suggested ?? (await showPasskey(await beginSignIn()));
      const signedIn = await api.auth.passkeys.signIn({ credential });
      if (location.protocol === 'http:') await assertCookieKept();
      return signedIn;
    },
  });
}

/** Shows by a passkey who this is: the sign-in counts as fresh for a while, and the session has another cookie. */
export function useProveByPasskey() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: async () =>
      api.auth.passkeys.prove({ credential: await showPasskey(await api.auth.passkeys.beginProof()) }),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: meQuery.queryKey }),
  });
}

function useReadAgain(): () => Promise<void> {
  const queryClient = useQueryClient();
  return () => queryClient.invalidateQueries({ queryKey: passkeysQuery.queryKey });
}
