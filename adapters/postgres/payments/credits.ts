import { causePrefixes } from '../../../domain/cause-prefixes.js';
import { causeOf } from '../../../domain/causes.js';
import type { UserId } from '../../../domain/ids.js';
import type { Database } from '../database.js';

/** The user to whom a payment was credited, and the amount, in cents. */
export interface CreditedPayment {
  readonly userId: UserId;
  readonly creditedCents: number;
}

/** Finds the user to whom a payment was credited, and the amount; undefined for a payment that was never credited. */
export async function findCredit(db: Database, paymentId: string): Promise<CreditedPayment | undefined> {
  const { rows } = await db.raw<{ rows: CreditedPayment[] }>(
    `select w.user_id as "userId", e.amount_cents as "creditedCents"
       from ledger_causes c
       join kept_entries e on e.wallet_id = c.wallet_id and e.seq = c.seq
       join wallets w on w.id = c.wallet_id
      where c.cause = ?`,
    [causeOf({ kind: 'payment', paymentId })],
  );
  return rows[0];
}

/**
 * Finds the user to whom an operator credited a parked payment, and the amount; undefined when nobody did (decision 80,
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

/**
 * Finds the user whose wallet has the money of a payment, because the debt that it paid was not owed, and the amount;
 * undefined where no payment of a debt came back to a wallet.
 */
export async function findReturnedDebt(
  db: Database,
  paymentId: string,
): Promise<CreditedPayment | undefined> {
  const { rows } = await db.raw<{ rows: CreditedPayment[] }>(
    `select i.user_id as "userId", e.amount_cents as "creditedCents"
       from invoices i
       join ledger_causes c on c.cause = :returned || i.id
       join kept_entries e on e.wallet_id = c.wallet_id and e.seq = c.seq
      where i.payment_id = :paymentId`,
    { returned: causePrefixes.invoiceReturned, paymentId },
  );
  return rows[0];
}
