import { isApiError } from '@gpu-rental/client';
import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { api } from './client.js';
import { keysQuery } from './keys.js';
import { makeKeyPair, type KeyPair } from './openssh-key.js';
import { useMutation } from './use-mutation.js';

/** A public key, or the wish for a pair. */
export type NewKey =
  | { readonly name: string; readonly publicKey: string }
  | { readonly name: string; readonly generate: true };

/** A key that was added, with the private half of a pair that was made for it. */
export interface AddedKey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly privateKey?: string | undefined;
}

/**
 * Adds a key, and reads the list anew. A pair is made in this browser, and by the service where the browser can't.
 * @param run does what may take a fresh sign-in (`useFreshProof`)
 */
export function useAddKey(run: <T>(action: () => Promise<T>) => Promise<T>) {
  const queryClient = useQueryClient();
  // Kept until its public half is known to be there: a press after a lost answer means the same key.
  const made = useRef<KeyPair>(undefined);
  return useMutation({
    mutationFn: async (key: NewKey): Promise<AddedKey> => {
      if ('publicKey' in key) return run(() => api.sshKeys.add(key));
      made.current ??= await makeKeyPair(key.name);
      const pair = made.current;
      if (!pair) return run(() => api.sshKeys.add(key));
      const added = await run(() => addOwn(key.name, pair.publicKey));
      return { ...added, privateKey: pair.privateKey };
    },
    // A private half is not kept in the cache of mutations once its form is gone.
    gcTime: 0,
    onSettled: () => queryClient.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
}

/** Nobody else has this key: where it is there already, the answer to an earlier press was lost. */
async function addOwn(name: string, publicKey: string): Promise<AddedKey> {
  try {
    return await api.sshKeys.add({ name, publicKey });
  } catch (error) {
    if (!isApiError(error, 'duplicate_key')) throw error;
    const there = (await api.sshKeys.list()).find((one) => one.publicKey === publicKey);
    if (!there) throw error;
    return there;
  }
}
