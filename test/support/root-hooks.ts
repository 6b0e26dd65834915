import type { RootHookObject } from 'mocha';
import { findProcess } from '../../lab/servers/process-table.js';
import { findTemporalCli } from '../../lab/servers/temporal-cli.js';
import { readStackSettings } from '../../lab/stack/settings.js';
import { stopTestServers } from './started-servers.js';

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
}

/** Mocha may run the tests in a child process, which would go on when only its parent is killed. */
function endWithParent(): void {
  const parent = process.ppid;
  if (findProcess(parent)?.command.includes('mocha') !== true) return;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, 500).unref();
}

/** Runs after the last test, failed or not. Should mocha be killed, the keeper ends the servers. */
export const mochaHooks: RootHookObject = {
  async afterAll() {
    await stopTestServers();
  },
};
