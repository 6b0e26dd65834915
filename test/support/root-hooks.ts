import { findProcess } from '../../lab/servers/process-table.js';
import { findTemporalCli } from '../../lab/servers/temporal-cli.js';
import { readStackSettings } from '../../lab/stack/settings.js';
import { offerServers } from './servers/shared-servers.js';
import { stopTestServers } from './servers/started-servers.js';

/**
 * Makes sure that there is a Temporal CLI before the first test: on a new machine it may have to be built, which
 * no test's time limit allows for. When there can't be one, the tests that need it say so themselves.
 */
export async function mochaGlobalSetup(): Promise<void> {
  endWithParent();
  const log = (line: string) => process.stderr.write(`${line}\n`);
  try {
    await findTemporalCli({ places: readStackSettings().cliPlaces, log });
  } catch (error) {
    log(error instanceof Error ? error.message : String(error));
  }
  if (process.argv.includes('--parallel')) await startShared();
}

/**
 * In a parallel run, each file's process would start servers of its own: they all use this one's. PostgreSQL, which
 * most files ask for, starts while they load; Temporal when the first one asks. What they take to start is loaded
 * then, and not before the first test.
 */
async function startShared(): Promise<void> {
  const starts = {
    postgres: async () => (await import('./servers/offered.js')).offerPostgres(),
    temporal: async () => (await import('./servers/offered.js')).offerTemporal(),
  };
  await offerServers(starts);
  // Whoever asks for it is told why there is none.
  starts.postgres().catch(() => undefined);
}

/** Runs once after all files, in the process that began the run. */
export async function mochaGlobalTeardown(): Promise<void> {
  await stopTestServers();
}

/** Mocha may run the tests in a child process, which would go on when only its parent is killed. */
function endWithParent(): void {
  const parent = process.ppid;
  if (findProcess(parent)?.command.includes('mocha') !== true) return;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, 500).unref();
}
