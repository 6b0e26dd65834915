import type { Database } from '../../../adapters/postgres/database.js';
import { verifyLedger, type Discrepancy } from '../../../adapters/postgres/ledger/verify.js';
import type { UserId } from '../../../domain/ids.js';

/** A connection of the driver, which knows a statement by its name from its second time on. */
interface Connection {
  query(statement: string | { name: string; text: string; values: readonly unknown[] }): Promise<Answer>;
}

interface Answer {
  readonly rows: Discrepancy[];
}

interface KnexClient {
  acquireConnection(): Promise<Connection>;
  releaseConnection(connection: Connection): Promise<void>;
}

/**
 * Asks what `verifyLedger` asks, in its very words, and has the server plan them once for each connection: tests ask after
 * each of their steps, and the plan alone takes ten times as long as the answer for their few rows.
 * @returns every discrepancy, at most 100
 */
export async function verifyLedgerAgain(db: Database, userId?: UserId): Promise<Discrepancy[]> {
  const raw = (sql: string, named: Record<string, string | null>): Promise<Answer> => {
    const { sql: text, bindings } = db.raw(sql, named).toSQL().toNative();
    return askByName(db, text, bindings);
  };
  return verifyLedger({ raw } as unknown as Database, userId);
}

async function askByName(db: Database, text: string, values: readonly unknown[]): Promise<Answer> {
  const client = db.client as KnexClient;
  const connection = await client.acquireConnection();
  try {
    // The planner would else plan it five times before it looks for one plan for all values.
    await connection.query('set plan_cache_mode = force_generic_plan');
    const answer = await connection.query({ name: 'verify_ledger_again', text, values });
    await connection.query('reset plan_cache_mode');
    return answer;
  } finally {
    await client.releaseConnection(connection);
  }
}
