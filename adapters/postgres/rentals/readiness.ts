import { spreadOf, type Spread } from '../../../domain/catalog/reliability.js';
import type { Database, Transaction } from '../database.js';

/**
 * Reads how long an upstream's machines of a family took from the create to running, in seconds, over the last 30 days
 * (decision 106, "Progress and reliability"). It reads one row by its key: the times are summed up by the worker.
 * @returns null below 20 samples
 */
export async function readReadiness(
  db: Database | Transaction,
  { providerCode, family }: { readonly providerCode: string; readonly family: string },
): Promise<Spread | null> {
  const row = await db('reliability')
    .where({ provider_code: providerCode, family })
    .first('created', 'ready_p50_seconds', 'ready_p90_seconds');
  return row ? spreadOf(row.created, row.ready_p50_seconds, row.ready_p90_seconds) : null;
}
