import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase, type Database } from '../adapters/postgres/database.js';
import { databaseDeadlines } from '../adapters/postgres/deadlines.js';
import { describeMachine } from '../lab/servers/machine.js';
import { choosePostgresFolder } from '../lab/servers/postgres-home.js';
import { startPostgres } from '../lab/servers/postgres.js';
import { findFreePorts } from '../lab/stack/ports.js';
import { migrateToLatest } from '../migrations/migrate.js';
import { notePostgres } from './report.js';
import { HOUR } from '../domain/durations.js';

/** Limits that let millions of rows be made before the measurement. 0 means no limit at the server. */
const patient = { ...databaseDeadlines.worker, statementMs: 0, transactionMs: 0, answerMs: 10 * HOUR };

export interface BenchServer {
  readonly db: Database;
  readonly url: string;
  readonly pid: number;
  /** Writes all changed pages, as PostgreSQL does by the true clock. */
  checkpoint(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the benchmark's own PostgreSQL with an empty, migrated database. It writes as durably as in production:
 * figures with fsync off would look too good. BENCH_POSTGRES_BIN names the folder of another PostgreSQL's programs: npm's
 * are compiled for their size, a distribution's for speed.
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
    machine: describeMachine(dataDir),
    binDir: process.env['BENCH_POSTGRES_BIN'],
  });
  await migrateToLatest(server.url);
  const db = openDatabase(server.url, 8, 'bench', null, patient);
  const admin = openDatabase(server.adminUrl, 1, 'bench', null, patient);
  await notePostgres(db);
  return {
    db,
    url: server.url,
    pid: server.pid,
    checkpoint: async () => {
      await admin.raw('checkpoint');
    },
    stop: async () => {
      await admin.destroy();
      await db.destroy();
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The end of the database's write-ahead log, in bytes: two of them tell how much was logged in between. */
export async function walBytes(db: Database): Promise<number> {
  const { rows } = await db.raw<{ rows: { bytes: string }[] }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes`,
  );
  return Number(rows[0]?.bytes);
}
