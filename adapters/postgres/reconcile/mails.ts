import { findingsMail } from '../../../domain/mails/operators.js';
import type { Transaction } from '../database.js';
import { insertMail } from '../upkeep/outbox.js';
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
  const gaps = await listGaps(trx);
  await insertMail(trx, {
    cause: { kind: 'reconcile', runId },
    recipient: operatorEmail,
    message: findingsMail(fresh, gaps),
    wipeAfterSending: false,
  });
  return fresh.length;
}
