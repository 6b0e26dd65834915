import type { UserId } from '../../../domain/ids.js';
import { operationLimits } from '../../../domain/operations/limits.js';
import { isOlderSql } from '../clock.js';
import type { Database } from '../database.js';
import type { RefundOrDisputeRow } from '../rows/tables.js';
import { isDebtSql } from '../invoices/debts.js';

export async function findReversal(db: Database, id: string): Promise<RefundOrDisputeRow | undefined> {
  return db('refunds_and_disputes').where({ id }).first();
}

/**
 * Lists refunds and disputes of which more is expected and that are older than a moment: each should have a workflow.
 */
export async function listUnclosedReversals(
  db: Database,
): Promise<Pick<RefundOrDisputeRow, 'id' | 'kind'>[]> {
  return db('refunds_and_disputes')
    .whereNull('closed_at')
    .whereRaw(isOlderSql('created_at', operationLimits.reviveAfterMs))
    .select('id', 'kind');
}

/** Reads the debts that a payment settled, in cents: when the payment is given back, they are owed again. */
export async function readDebtsPaidBy(db: Database, paymentId: string): Promise<number> {
  const { rows } = await db.raw<{ rows: { cents: number }[] }>(
    `select coalesce(sum(amount_cents), 0)::bigint as cents from invoices i
      where i.payment_id = ? and i.status = 'paid' and ${isDebtSql('i')}`,
    [paymentId],
  );
  return rows[0]?.cents ?? 0;
}

/** Finds the user whose debt a payment settled, also one whose customer is forgotten; undefined where it settled none. */
export async function findDebtor(db: Database, paymentId: string): Promise<UserId | undefined> {
  return (await db('invoices').where({ payment_id: paymentId, status: 'paid' }).first('user_id'))?.user_id;
}
