import type { Transaction } from '../database.js';
import { insertMail } from '../upkeep/outbox.js';
import type { ReconcileFindingRow } from '../rows/tables.js';
import { listGaps } from './findings.js';

/** So many are spelled out; the rest is counted. */
const SPELLED_OUT = 20;

/**
 * Tells operators of findings that they were not told of, in one mail per run, and marks them told.
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
    subject: `Reconcile: ${fresh.length} new ${fresh.length === 1 ? 'finding' : 'findings'}`,
    body: [
      'Our books, the payment processor and the upstreams do not agree:',
      '',
      ...fresh.slice(0, SPELLED_OUT).map(lineOf),
      ...(fresh.length > SPELLED_OUT ? [`… and ${fresh.length - SPELLED_OUT} more.`] : []),
      '',
      ...gaps.map((gap) => `Not compared: ${gap.source} since ${gap.since.toISOString()} (${gap.why})`),
      'All of them with their evidence: npm run ops -- findings',
      'What each kind means and what to do: docs/operations/findings.md',
    ].join('\n'),
    wipeAfterSending: false,
  });
  return fresh.length;
}

function lineOf({ id, kind, subject }: ReconcileFindingRow): string {
  return `${id}  ${kind}  ${subject}`;
}
