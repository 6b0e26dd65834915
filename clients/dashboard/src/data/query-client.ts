import { isApiError } from '@gpu-rental/client';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { StillUnknown } from './still-unknown.js';

const signedOutListeners = new Set<() => void>();

/** Calls back once the service says that nobody is signed in any more. Returns how to stop that. */
export function onSignedOut(listener: () => void): () => void {
  signedOutListeners.add(listener);
  return () => signedOutListeners.delete(listener);
}

function tellSignedOut(error: unknown): void {
  const cause = error instanceof StillUnknown ? error.cause : error;
  if (isApiError(cause, 'unauthorized')) for (const listener of signedOutListeners) listener();
}

/**
 * What the service said, kept while somebody looks at it. The client repeats by itself what failed. What is asked for
 * while the browser takes itself for offline is tried at once: a press that waits for the network would pay unseen later.
 */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: tellSignedOut }),
  mutationCache: new MutationCache({ onError: tellSignedOut }),
  defaultOptions: {
    queries: {
      ...{ retry: false, networkMode: 'always', refetchOnReconnect: true },
      ...{ staleTime: 10_000, gcTime: 5 * 60_000, refetchOnWindowFocus: true },
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});
