import { unnamedSeller, type BillingDetails, type Receipt } from '../../domain/payments/receipt.js';
import type { Account } from './account.js';

/** The receipt of a top-up that was paid. */
export function receiptOf(account: Account, topupId: string | undefined): Receipt | undefined {
  const topup = account.topups.find(({ id }) => id === topupId);
  const paidAt = topup?.credited_at;
  if (!topup || !paidAt) return undefined;
  const { card_brand: brand, card_last4: last4 } = topup;
  return {
    topupId: topup.id,
    paidAt,
    paidCents: topup.credited_cents ?? 0,
    reversedCents: 0,
    isAuto: topup.source === 'auto_topup',
    card: brand === null || last4 === null ? null : { brand, last4 },
    email: account.user.email,
    seller: topup.sold_by ?? unnamedSeller,
    buyer: topup.billed_to ?? account.billingDetails,
  };
}

/** Whether details say anything. */
export function isSaid({ name, address, taxId }: BillingDetails): boolean {
  return (name ?? address ?? taxId) !== null;
}
