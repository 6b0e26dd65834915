import { verifyLedger } from '../../../adapters/postgres/ledger/verify.js';
import type { Discrepancy } from '../../../adapters/postgres/ledger/verify-rules.js';
import { runPrepared } from '../../../adapters/postgres/prepared.js';
import type { Database } from '../../../adapters/postgres/database.js';
import type { UserId } from '../../../domain/ids.js';

/**
 * Asks what `verifyLedger` asks, in its very words, and has the server plan them once for each connection: tests ask after
 * each of their steps, and the plan alone takes ten times as long as the answer for their few rows.
 * @returns every discrepancy, at most 100
 */
export async function verifyLedgerAgain(db: Database, userId?: UserId): Promise<Discrepancy[]> {
  const raw = async (text: string, named: Record<string, string | null>) => {
    const { sql, bindings } = db.raw(text, named).toSQL().toNative();
    return {
      rows: await runPrepared<Discrepancy, typeof bindings>(
        db,
        { name: 'verify_ledger_again', sql },
        bindings,
      ),
    };
  };
  return verifyLedger({ raw } as unknown as Database, userId);
}
