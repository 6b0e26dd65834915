import type { TopupId, UserId } from '../../../domain/ids.js';
import {
  noBillingDetails,
  type BillingDetails,
  type Receipt,
  type Seller,
} from '../../../domain/payments/receipt.js';
import type { Database } from '../database.js';

/** Which receipt: of a user's top-up, or of a payment. */
export type WhichReceipt =
  | { readonly userId: UserId; readonly topupId: TopupId }
  | { readonly paymentId: string };

/**
 * Finds the receipt of a top-up that was paid; undefined where there is none. Who had said nothing of themselves by the
 * payment is named as they say now.
 * @param seller named where the payment kept none
 */
export async function findReceipt(
  db: Database,
  which: WhichReceipt,
  seller: Seller,
): Promise<Receipt | undefined> {
  const [condition, bindings] =
    'paymentId' in which
      ? ['t.payment_id = :paymentId', { paymentId: which.paymentId }]
      : ['t.id = :topupId and t.user_id = :userId', { topupId: which.topupId, userId: which.userId }];
  const { rows } = await db.raw<{
    rows: (Omit<Receipt, 'seller' | 'buyer' | 'card'> & {
      soldBy: Seller | null;
      buyer: BillingDetails | null;
      brand: string | null;
      last4: string | null;
    })[];
  }>(
    `select t.id as "topupId", t.credited_at as "paidAt", t.credited_cents as "paidCents",
            coalesce((select least(sum(r.amount_cents), t.credited_cents) from refunds_and_disputes r
                       where r.payment_id = t.payment_id and r.taken_at is not null
                         and r.given_back_at is null), 0)::bigint as "reversedCents",
            t.source = 'auto_topup' as "isAuto", t.card_brand as brand, t.card_last4 as last4, u.email,
            t.sold_by as "soldBy",
            coalesce(t.billed_to,
                     (select ${buyerSql} from billing_details b where b.user_id = t.user_id)) as buyer
       from topups t join users u on u.id = t.user_id
      where ${condition} and t.credited_at is not null`,
    bindings,
  );
  const [row] = rows;
  if (!row) return undefined;
  const { brand, last4, buyer, soldBy, ...receipt } = row;
  const card = brand === null || last4 === null ? null : { brand, last4 };
  return { ...receipt, card, seller: soldBy ?? seller, buyer: buyer ?? noBillingDetails };
}

/** The billing details of a row `b`, as `topups.billed_to` keeps them. */
export const buyerSql = `jsonb_build_object('name', b.name, 'address', b.address, 'taxId', b.tax_id)`;
