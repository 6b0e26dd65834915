import { infiniteQueryOptions } from '@tanstack/react-query';
import { api } from './client.js';
import type { ListedStatus } from './invoice-statuses.js';

const PAGE_SIZE = 50;

/** Invoices, newest first, page by page. */
export const invoicesQuery = (status: ListedStatus | undefined) =>
  infiniteQueryOptions({
    queryKey: ['invoices', status ?? 'all'],
    queryFn: ({ pageParam: before, signal }) =>
      api.invoices.list(
        {
          limit: PAGE_SIZE,
          ...(status !== undefined && { status }),
          ...(before !== undefined && { before }),
        },
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => (page.length < PAGE_SIZE ? undefined : page.at(-1)?.id),
  });

/** The page on which an invoice is paid, as the processor has it now; null where there is nothing to pay. */
export async function readPayUrl(invoiceId: string): Promise<string | null> {
  const { url } = await api.invoices.payUrl(invoiceId);
  return url;
}
