import { findingsMail } from '../../../domain/mails/operators.js';
import type { Transaction } from '../database.js';
import { mailOperators } from '../upkeep/outbox.js';
import { listGaps } from './findings.js';

/**
 * Tells operators of the findings that they have not been told, in one mail per run, and marks them told.
 * @returns how many were fresh
 */
export async function tellOperators(
  trx: Transaction,
  runId: number,
  operatorEmail: string | null,
): Promise<number> {
  const fresh = await trx('reconcile_findings')
    .where({ state: 'open' })
    .whereNull('told_at')
    .update({ told_at: trx.raw('clock_ms()') })
    .returning('*');
  if (fresh.length === 0 || operatorEmail === null) return fresh.length;
  const message = findingsMail(fresh, await listGaps(trx));
  await mailOperators(trx, operatorEmail, { kind: 'reconcile', runId }, message);
  return fresh.length;
}
