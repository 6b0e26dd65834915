import fc from 'fast-check';
import { findProcess } from '../../lab/servers/process-table.js';
import { findTemporalCli } from '../../lab/servers/temporal-cli.js';
import { readStackSettings } from '../../lab/stack/settings.js';
import { keepEvidence } from './dashboard/evidence.js';
import { closeVisits, isBrowserOpen, stopBrowser } from './dashboard/open-browsers.js';
import { areServersShared, offerServers } from './servers/shared-servers.js';
import { fileEnded, noteTimes, tellTimes } from './slowest-files.js';
import { stopTestServers } from './servers/started-servers.js';

// An error crosses from the processes of a parallel run without its cause.
fc.configureGlobal({ includeErrorInReport: true });

/**
 * Makes sure that there is a Temporal CLI before the first test: a new machine may have to build it, which takes longer
 * than any test's time limit. Without one, the tests that need it fail with the reason.
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
 * In a parallel run, each file's process would start servers of its own; instead all use the servers of this one.
 * PostgreSQL starts while the files load, since most of them need it. Temporal starts at the first request. The modules
 * that start the servers are loaded only here.
 */
async function startShared(): Promise<void> {
  const starts = {
    postgres: async () => (await import('./servers/offered.js')).offerPostgres(),
    temporal: async () => (await import('./servers/offered.js')).offerTemporal(),
  };
  await offerServers(starts);
  noteTimes();
  // A file that asks for the server gets this error.
  starts.postgres().catch(() => undefined);
}

/** Runs once after all files, in the process that began the run. */
export async function mochaGlobalTeardown(): Promise<void> {
  process.stderr.write(await tellTimes(stopTestServers));
  setTimeout(failWhatStillRuns, STILL_RUNS_MS).unref();
}

/** In each process that runs tests. */
export const mochaHooks = {
  /** A test's own hooks close its pages, so that a picture of a failed one is taken before them. */
  beforeEach(this: Mocha.Context): void {
    const test = this.currentTest;
    const run = test?.fn;
    if (!test || !run || run.length > 0 || !isBrowserOpen()) return;
    test.fn = async function (this: Mocha.Context): Promise<void> {
      try {
        await (run as Mocha.AsyncFunc).call(this);
      } catch (error) {
        await keepEvidence(test.fullTitle());
        throw error;
      }
    };
  },
  /** A process of a parallel run goes on with another file, and ends with its browser. */
  async afterAll(this: Mocha.Context): Promise<void> {
    await (areServersShared() ? closeVisits() : stopBrowser());
    fileEnded(this.test?.parent?.suites[0]?.file);
  },
};

/** How long a run may take to end after its last test. */
const STILL_RUNS_MS = 30_000;

/** A server or a timer that a test left open would keep the run from ever ending. */
function failWhatStillRuns(): void {
  const open = process.getActiveResourcesInfo().join(', ');
  process.stderr.write(`The tests have ended, and one of them left open: ${open}\n`);
  // Mocha sets the exit code to the number of failed tests at this event.
  process.once('exit', () => (process.exitCode = 1));
  process.exit();
}

/**
 * Ends this process with its parent: mocha may run the tests in a child process, which would go on after a kill of the
 * parent.
 */
function endWithParent(): void {
  const parent = process.ppid;
  if (findProcess(parent)?.command.includes('mocha') !== true) return;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, 500).unref();
}
