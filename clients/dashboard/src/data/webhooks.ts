import type { components, Webhook } from '@gpu-rental/client';
import { infiniteQueryOptions, queryOptions, useQueryClient } from '@tanstack/react-query';
import { api } from './client.js';
import { useMutation } from './use-mutation.js';

type NewWebhook = components['schemas']['AddWebhook'];
type WebhookChange = components['schemas']['ChangeWebhook'];
export type Delivery = components['schemas']['WebhookDelivery'];

/** A challenge is answered within seconds, and nothing tells when. */
const PENDING_AGAIN_MS = 3_000;

const againWhilePending = (hooks: readonly Webhook[]): number | false =>
  hooks.some(({ state }) => state === 'pending') && PENDING_AGAIN_MS;

/** Where events are delivered: ten at most. */
export const webhooksQuery = queryOptions({
  queryKey: ['webhooks'],
  queryFn: ({ signal }) => api.webhooks.list({ signal }),
  refetchInterval: ({ state }) => againWhilePending(state.data ?? []),
});

/** One of them. */
export const webhookQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhook', id],
    queryFn: ({ signal }) => api.webhooks.get(id, { signal }),
    refetchInterval: ({ state }) => againWhilePending(state.data ? [state.data] : []),
  });

/** What became of each try of 30 days, newest first, page by page. */
export const deliveriesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['deliveries', id],
    queryFn: ({ pageParam, signal }) => api.webhooks.deliveries(id, {}, { signal }).page(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });

/** How an action is done that may take a fresh sign-in (`useFreshProof`). */
type Run = <T>(action: () => Promise<T>) => Promise<T>;

/** Adds a webhook; its secret stands in this answer alone. */
export function useAddWebhook(run: Run) {
  const again = useReadAgain();
  return useMutation({
    mutationFn: (hook: NewWebhook) => run(() => api.webhooks.add(hook)),
    // The secret is not kept in the cache of mutations once its form is gone.
    gcTime: 0,
    onSettled: () => again(),
  });
}

/** Changes a webhook; with its address set, one that was switched off is challenged anew. */
export function useChangeWebhook(id: string, run: Run) {
  const again = useReadAgain();
  return useMutation({
    mutationFn: (change: WebhookChange) => run(() => api.webhooks.change(id, change)),
    onSettled: () => again(id),
  });
}

export function useRemoveWebhook(id: string) {
  const again = useReadAgain();
  return useMutation({ mutationFn: () => api.webhooks.delete(id), onSettled: () => again() });
}

/** Makes a new secret; the one before signs as well for a day. */
export function useRotateSecret(id: string, run: Run) {
  const again = useReadAgain();
  return useMutation({
    mutationFn: () => run(() => api.webhooks.rotateSecret(id)),
    gcTime: 0,
    onSettled: () => again(id),
  });
}

/** Has an event sent that says nothing. */
export function usePing(id: string) {
  const again = useReadAgain();
  return useMutation({ mutationFn: () => api.webhooks.ping(id), onSettled: () => again(id) });
}

/** Has all events after a number sent again. */
export function useRedeliver(id: string) {
  const again = useReadAgain();
  return useMutation({
    mutationFn: (afterSeq: number) => api.webhooks.redeliver(id, { afterSeq }),
    onSettled: () => again(id),
  });
}

function useReadAgain(): (id?: string) => Promise<unknown> {
  const queryClient = useQueryClient();
  return (id) => {
    const queryKeys = [
      webhooksQuery.queryKey,
      ...(id === undefined
        ? []
        : [
            ['webhook', id],
            ['deliveries', id],
          ]),
    ];
    return Promise.all(queryKeys.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
  };
}
