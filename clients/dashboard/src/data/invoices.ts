import type { Invoice } from '@gpu-rental/client';
import { queryOptions } from '@tanstack/react-query';
import { api } from './client.js';
import type { ListedStatus } from './invoice-statuses.js';

/** The API has no cursor for invoices: these are the newest ones. */
export const INVOICES_SHOWN = 200;

/** Invoices, newest first. */
export const invoicesQuery = (status: ListedStatus | undefined) =>
  queryOptions({
    queryKey: ['invoices', status ?? 'all'],
    queryFn: ({ signal }): Promise<Invoice[]> =>
      api.invoices.list({ limit: INVOICES_SHOWN, ...(status !== undefined && { status }) }, { signal }),
  });

/** The page on which an invoice is paid, as the processor has it now; null where there is nothing to pay. */
export async function readPayUrl(invoiceId: string): Promise<string | null> {
  const { url } = await api.invoices.payUrl(invoiceId);
  return url;
}
