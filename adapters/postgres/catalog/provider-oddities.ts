import type { CountedOddity } from '../../providers/upstream/oddity-book.js';
import type { Database } from '../database.js';
import type { ProviderOddityRow } from '../rows/tables.js';

/** Adds the oddities that were skipped in an upstream's answers to those already known. */
export async function recordOddities(
  db: Database,
  providerCode: string,
  oddities: readonly CountedOddity[],
): Promise<void> {
  if (oddities.length === 0) return;
  await db.raw(
    `insert into provider_oddities as o (provider_code, kind, subject, times)
     select :providerCode, kind, subject, times
       from jsonb_to_recordset(:oddities::jsonb) as x (kind text, subject text, times bigint)
     on conflict (provider_code, kind, subject) do update set
       times = o.times + excluded.times, last_seen_at = clock_ms()`,
    { providerCode, oddities: JSON.stringify(oddities) },
  );
}

/** Lists the oddities that were skipped lately, the most frequent first. */
export async function listOddities(
  db: Database,
  providerCode: string | undefined,
): Promise<ProviderOddityRow[]> {
  const query = db('provider_oddities')
    .whereRaw(`last_seen_at > clock_ms() - interval '7 days'`)
    .orderBy([
      { column: 'times', order: 'desc' },
      { column: 'provider_code' },
      { column: 'kind' },
      { column: 'subject' },
    ])
    .limit(500);
  if (providerCode !== undefined) void query.where({ provider_code: providerCode });
  return query;
}
