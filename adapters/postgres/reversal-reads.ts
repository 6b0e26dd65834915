import type { Database } from './database.js';
import type { RefundOrDisputeRow } from './tables.js';

export async function findReversal(db: Database, id: string): Promise<RefundOrDisputeRow | undefined> {
  return db('refunds_and_disputes').where({ id }).first();
}

/** Refunds and disputes of which more is expected and that are older than a moment: each should have a workflow. */
export async function listUnclosedReversals(
  db: Database,
): Promise<Pick<RefundOrDisputeRow, 'id' | 'kind'>[]> {
  return db('refunds_and_disputes')
    .whereNull('closed_at')
    .whereRaw(`created_at < clock_ms() - interval '15 seconds'`)
    .select('id', 'kind');
}
