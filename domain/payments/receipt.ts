import type { TopupId } from '../ids.js';

/** Whom statements and receipts are made out to, in the user's own words; null: nothing was said. */
export interface BillingDetails {
  readonly name: string | null;
  /** Of several lines. */
  readonly address: string | null;
  readonly taxId: string | null;
}

export const billingDetailsMax = { name: 150, address: 300, taxId: 50 } as const;

export const noBillingDetails: BillingDetails = { name: null, address: null, taxId: null };

/** Who runs this installation, as receipts name them. */
export interface Seller {
  readonly name: string;
  /** Its lines. */
  readonly address: readonly string[];
  readonly taxId: string | null;
}

/** Where the settings name nobody. */
export const unnamedSeller: Seller = { name: 'GPU rental', address: [], taxId: null };

/** What a receipt says of a top-up that was paid. Amounts in cents. */
export interface Receipt {
  /** Its number: that of the top-up. */
  readonly topupId: TopupId;
  readonly paidAt: Date;
  readonly paidCents: number;
  /** What refunds and disputes have taken back of it by now. */
  readonly reversedCents: number;
  readonly isAuto: boolean;
  readonly card: { readonly brand: string; readonly last4: string } | null;
  readonly email: string;
  readonly seller: Seller;
  readonly buyer: BillingDetails;
}

export function receiptFileName({ topupId }: Pick<Receipt, 'topupId'>): string {
  return `receipt-${topupId}.pdf`;
}
