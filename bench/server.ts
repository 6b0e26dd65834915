import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase, type Database } from '../adapters/postgres/database.js';
import { databaseDeadlines } from '../adapters/postgres/deadlines.js';
import { choosePostgresFolder } from '../lab/servers/postgres-home.js';
import { startPostgres } from '../lab/servers/postgres.js';
import { findFreePorts } from '../lab/stack/ports.js';
import { migrateToLatest } from '../migrations/migrate.js';

const HOUR = 3_600_000;
/** Limits that let millions of rows be made before the measurement. 0 means no limit at the server. */
const patient = { ...databaseDeadlines.worker, transactionMs: 0, answerMs: 10 * HOUR };

export interface BenchServer {
  readonly db: Database;
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts the benchmark's own PostgreSQL with an empty, migrated database. It writes as durably as in production:
 * figures with fsync off would look too good.
 */
export async function startBenchServer(): Promise<BenchServer> {
  const folder = mkdtempSync(join(tmpdir(), 'gpu-rental-bench-'));
  const dataDir = choosePostgresFolder(folder);
  const [port = 0] = await findFreePorts(1);
  const server = await startPostgres({
    dataDir,
    port,
    logFile: join(folder, 'postgres.log'),
    log: () => undefined,
  });
  await migrateToLatest(server.url);
  const db = openDatabase(server.url, 8, 'bench', null, patient);
  return {
    db,
    url: server.url,
    pid: server.pid,
    stop: async () => {
      await db.destroy();
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
