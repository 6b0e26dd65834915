import { causeOf } from '../../../domain/causes.js';
import type { UserId } from '../../../domain/ids.js';
import type { Database } from '../database.js';

/** What a payment brought to whom, in cents. */
export interface CreditedPayment {
  readonly userId: UserId;
  readonly creditedCents: number;
}

/** To whom a payment was credited, and how much; undefined for one that never was. */
export async function findCredit(db: Database, paymentId: string): Promise<CreditedPayment | undefined> {
  const { rows } = await db.raw<{ rows: CreditedPayment[] }>(
    `select w.user_id as "userId", e.amount_cents as "creditedCents"
       from ledger_causes c
       join ledger_entries e on e.wallet_id = c.wallet_id and e.seq = c.seq
       join wallets w on w.id = c.wallet_id
      where c.cause = ?`,
    [causeOf({ kind: 'payment', paymentId })],
  );
  return rows[0];
}

/**
 * To whom an operator credited a payment that was parked, and how much; undefined when nobody did (decision 80,
 * "Reversals without a credit").
 */
export async function findCreditByHand(
  db: Database,
  paymentId: string,
): Promise<CreditedPayment | undefined> {
  const { rows } = await db.raw<{ rows: CreditedPayment[] }>(
    `select a.request ->> 'userId' as "userId", (a.request ->> 'amountCents')::bigint as "creditedCents"
       from parked_payments p join operator_actions a on a.id = p.credited_by
      where p.payment_id = ?`,
    [paymentId],
  );
  return rows[0];
}
