import type { BillingDetails } from '@gpu-rental/client';
import { queryOptions } from '@tanstack/react-query';
import { saveFile } from '../ui/save-file.js';
import { api } from './client.js';

/** Whom statements and receipts are made out to. */
export const billingDetailsQuery = queryOptions({
  queryKey: ['billingDetails'],
  queryFn: ({ signal }) => api.wallet.details({ signal }),
});

export function saveBillingDetails(details: BillingDetails): Promise<BillingDetails> {
  return api.wallet.saveDetails(details);
}

/** Has the browser save the receipt of a top-up. */
export async function downloadReceipt(topupId: string): Promise<void> {
  saveFile(`receipt-${topupId}.pdf`, await api.topups.receipt(topupId), 'application/pdf');
}
