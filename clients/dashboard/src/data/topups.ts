import { isApiError, type Checkout, type Topup } from '@gpu-rental/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api } from './client.js';

const PAGE_SIZE = 20;

/** All that was paid in or tried, newest first. */
export const topupsQuery = infiniteQueryOptions({
  queryKey: ['topups', 'list'],
  queryFn: ({ pageParam, signal }) =>
    api.topups
      .list({ pageSize: PAGE_SIZE, ...(pageParam !== undefined && { cursor: pageParam }) }, { signal })
      .firstPage(),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
});

/** One top-up. */
export const topupQuery = (id: string) =>
  queryOptions({
    queryKey: ['topups', 'one', id],
    queryFn: ({ signal }) => api.topups.get(id, { signal }),
  });

/** What became of a wish to pay, by its key; undefined where the service knows nothing of it. */
export async function findPayment(idempotencyKey: string, signal: AbortSignal): Promise<Topup | undefined> {
  const { topups } = await api.topups.list({ idempotencyKey }, { signal }).firstPage();
  return topups[0];
}

/** How long a press waits to hear what was paid before. */
const LOOK_WITHIN_MS = 3_000;

/** When somebody paid just this amount lately; nothing where that can't be read now. */
export async function paidBefore(amountCents: number): Promise<string[]> {
  try {
    const list = api.topups.list({ pageSize: PAGE_SIZE }, { timeoutMs: LOOK_WITHIN_MS });
    return (await list.firstPage()).topups
      .filter((topup) => topup.amountCents === amountCents && topup.source !== 'auto_topup')
      .filter(({ status }) => status === 'succeeded' || status === 'processing')
      .map(({ createdAt }) => createdAt);
  } catch {
    return [];
  }
}

/** A wish to pay. The key makes a second press, and a retry after silence, the same payment. */
export interface TopupWish {
  readonly amountCents: number;
  readonly idempotencyKey: string;
}

/** Charges the saved card, or opens a payment page: the service decides which. */
export function beginTopup({ amountCents, idempotencyKey }: TopupWish): Promise<Checkout> {
  return api.checkout.create({ amountCents }, { idempotencyKey });
}

/**
 * The payment from whose page the browser came back: the one that it left for, or the newest one on a page where that is
 * not known.
 */
export const returnedTopupQuery = (id: string | undefined) =>
  queryOptions({
    queryKey: ['topups', 'returned', id ?? null],
    queryFn: async ({ signal }): Promise<Topup | null> => {
      const named = id === undefined ? undefined : await findTopup(id, signal);
      if (named !== undefined) return named;
      const { topups } = await api.topups.list({ pageSize: PAGE_SIZE }, { signal }).firstPage();
      return topups.find(({ source }) => source === 'checkout') ?? null;
    },
  });

async function findTopup(id: string, signal: AbortSignal): Promise<Topup | undefined> {
  try {
    return await api.topups.get(id, { signal });
  } catch (error) {
    // Somebody else signed in here meanwhile.
    if (isApiError(error, 'topup_not_found')) return undefined;
    throw error;
  }
}

/** Whether nothing more becomes of a payment by itself. */
export function isOver({ status }: Topup): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'expired';
}
