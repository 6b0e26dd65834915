import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../adapters/postgres/database.js';
import { startBare } from './bare.js';

/** A query, with its values. */
export interface BareQuery {
  readonly sql: string;
  readonly bindings: readonly string[];
}

/** A bare handler in a process of its own. */
export interface BareProcess {
  readonly url: string;
  readonly pid: number;
  close(): void;
}

/**
 * Starts the bare handler (bare.ts) in a process of its own, as the API is one: it shares no core's time with whoever
 * asks.
 * @param queries the query of each path
 */
export async function startBareProcess(
  databaseUrl: string,
  queries: Readonly<Record<string, BareQuery>>,
): Promise<BareProcess> {
  const bare = fork(fileURLToPath(import.meta.url), [databaseUrl, JSON.stringify(queries)], {
    execArgv: ['--import', 'tsx'],
  });
  const [url] = (await once(bare, 'message')) as [string];
  return { url, pid: bare.pid ?? 0, close: () => bare.disconnect() };
}

/** The process itself: it tells its address, and lives as long as the benchmark. */
async function serve([databaseUrl = '', queries = '{}']: readonly string[]): Promise<void> {
  const known = JSON.parse(queries) as Record<string, BareQuery>;
  const poolMax = 20;
  const { url } = await startBare(openDatabase(databaseUrl, poolMax, 'bench-bare'), (path) => {
    const query = known[path];
    if (!query) throw new Error(`no query for ${path}`);
    return query;
  });
  process.send?.(url);
  process.once('disconnect', () => process.exit());
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) await serve(process.argv.slice(2));
