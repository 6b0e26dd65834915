import { copyFileSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { migrateToLatest } from '../../migrations/migrate.js';
import { searchAttributes } from '../../workflows/contracts/search-attributes.js';
import { choosePostgresFolder } from '../servers/postgres-home.js';
import { findConnectionFault, startPostgres } from '../servers/postgres.js';
import { startProgram } from '../servers/program.js';
import { findTemporalCli } from '../servers/temporal-cli.js';
import { findTemporalFault, registerSearchAttributes, startTemporal } from '../servers/temporal.js';
import { childrenOf, logFileOf, planOf } from './children.js';
import { lockDataDir } from './lock.js';
import { forgetOperators, makeOperators } from './operators.js';
import { assertPortsFree } from './ports.js';
import { readSecrets } from './secrets.js';
import type { StackSettings } from './settings.js';
import { supervise, type Supervised } from './supervise.js';
import { urlsOf, type StackUrls } from './urls.js';

export interface StackOptions {
  readonly settings: StackSettings;
  /** Gets a line per step, and a line for each later event. */
  readonly log: (line: string) => void;
  /** Gives up a start that is under way; the parts that run already are stopped. */
  readonly signal?: AbortSignal;
}

/** The whole service on one machine, up and supervised. */
export interface Stack {
  readonly settings: StackSettings;
  readonly urls: StackUrls;
  /** The folder of the database; null when the database is not the stack's own. */
  readonly postgresDir: string | null;
  /** Returns the pid of a part by its name ("worker", "API", "GPU provider", …); undefined when it is not running. */
  pid(name: string): number | undefined;
  /** Stops all parts in the reverse order of their start, each within its time limit. */
  stop(): Promise<void>;
  /** Kills all parts at once. */
  kill(): void;
}

/** A stack in the making: the parts that have been started so far. */
interface Build extends StackOptions {
  readonly urls: StackUrls;
  readonly parts: Supervised[];
  /** Runs one step and prints a line with the elapsed seconds when it is done. */
  readonly step: (what: string, run: () => Promise<string | undefined>) => Promise<void>;
}

const logCheckMs = 60_000;
const maxLogBytes = 20 * 1024 * 1024;

/**
 * Brings the whole service up on this machine: PostgreSQL, Temporal, the schema, the lab's GPU provider, payment
 * processor and mail inbox, the worker and the API. It waits until each is ready.
 * @throws Error saying what to do; the parts that were started are stopped again
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { settings, log } = options;
  const urls = urlsOf(settings);
  const lock = lockDataDir(settings.dataDir, urls);
  const parts: Supervised[] = [];
  const stop = async () => {
    forgetOperators(settings);
    // A part leaves the list once it is stopped, so that a kill meanwhile reaches all parts that still run.
    for (const part of [...parts].reverse()) {
      log(`stopping ${part.name}`);
      await part.stop();
      parts.splice(parts.indexOf(part), 1);
    }
    lock.release();
  };
  try {
    const build: Build = { ...options, urls, parts, step: createStep(options) };
    await assertPortsFree(settings, { afterCrash: lock.afterCrash, log });
    const postgresDir = await startDatabase(build);
    await startWorkflowServer(build);
    await makeOperators(settings, readSecrets(settings.dataDir));
    await startChildren(build);
    const trimming = setInterval(() => trimLogs(settings), logCheckMs);
    return {
      settings,
      urls,
      postgresDir,
      pid: (name) => parts.find((part) => part.name === name)?.pid(),
      async stop() {
        clearInterval(trimming);
        await stop();
      },
      kill() {
        clearInterval(trimming);
        for (const part of parts) part.kill();
        forgetOperators(settings);
        lock.release();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function createStep({ log, signal }: StackOptions): Build['step'] {
  const startedAt = Date.now();
  return async (what, run) => {
    signal?.throwIfAborted();
    const words = await run();
    const elapsed = ((Date.now() - startedAt) / 1000).toFixed(1).padStart(6);
    log(`${elapsed} s  ${what}${words === undefined ? '' : `: ${words}`}`);
  };
}

async function startDatabase({ settings, log, signal, urls, parts, step }: Build): Promise<string | null> {
  const folder = settings.databaseUrl === null ? choosePostgresFolder(settings.dataDir) : null;
  const databaseUrl = settings.databaseUrl ?? urls.database;
  await step('PostgreSQL', async () => {
    if (folder === null) {
      const fault = await findConnectionFault(databaseUrl);
      if (fault === undefined) return `the one of DATABASE_URL (${urls.database})`;
      throw new Error(
        `The database of DATABASE_URL can not be used: ${fault}. Correct it, or unset it for an own one.`,
      );
    }
    const start = (ended: AbortSignal) =>
      startPostgres({
        dataDir: folder,
        port: settings.ports.postgres,
        logFile: logFileOf('postgres', settings),
        log,
        signal: either(ended, signal),
      });
    parts.push(await supervise('PostgreSQL', start, log));
    return `ready, data in ${folder}`;
  });
  await step('schema', async () => {
    const taken = await migrateToLatest(databaseUrl);
    return taken.length === 0 ? 'up to date' : `migrated (${taken.join(', ')})`;
  });
  return folder;
}

async function startWorkflowServer({ settings, log, signal, urls, parts, step }: Build): Promise<void> {
  const { temporalAddress, temporalNamespace: namespace, env } = settings;
  if (temporalAddress !== null) {
    await step('Temporal', async () => {
      const fault = await findTemporalFault(temporalAddress, namespace);
      if (fault !== undefined) {
        throw new Error(
          `Temporal at TEMPORAL_ADDRESS (${temporalAddress}, namespace ${namespace}) can not be used: ${fault}. ` +
            'Correct it, or unset it for an own one.',
        );
      }
      await registerSearchAttributes(temporalAddress, namespace, searchAttributes);
      return `the one of TEMPORAL_ADDRESS (${temporalAddress})`;
    });
    return;
  }
  const found = { cliPath: '' };
  await step('Temporal CLI', async () => {
    found.cliPath = await findTemporalCli({ places: settings.cliPlaces, log, signal });
    return found.cliPath;
  });
  await step('Temporal', async () => {
    const start = (ended: AbortSignal) =>
      startTemporal({
        cliPath: found.cliPath,
        port: settings.ports.temporal,
        uiPort: settings.ports.temporalUi,
        dbFile: join(settings.dataDir, 'temporal', 'temporal.db'),
        namespace,
        searchAttributes,
        logFile: logFileOf('temporal', settings),
        env,
        signal: either(ended, signal),
      });
    parts.push(await supervise('Temporal', start, log));
    return `ready at ${urls.temporal}`;
  });
}

async function startChildren({ settings, log, signal, parts, step }: Build): Promise<void> {
  const secrets = readSecrets(settings.dataDir);
  for (const group of childrenOf(settings, secrets)) {
    const starts = group.map(async (child) => {
      const plan = planOf(child, settings, secrets);
      await step(child.name, async () => {
        const start = (ended: AbortSignal) => startProgram({ ...plan, signal: either(ended, signal) });
        parts.push(await supervise(child.name, start, log));
        return 'ready';
      });
    });
    // Waits for all of a group: otherwise a late one would miss the stop after the failure of another.
    const failed = (await Promise.allSettled(starts)).find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  }
}

function either(first: AbortSignal, second: AbortSignal | undefined): AbortSignal {
  return second === undefined ? first : AbortSignal.any([first, second]);
}

/**
 * Empties large logs, because a stack may stay up for weeks. Programs append to their logs, so that emptying is safe.
 */
function trimLogs(settings: StackSettings): void {
  const folder = join(settings.dataDir, 'logs');
  for (const name of readdirSync(folder).filter((entry) => entry.endsWith('.log'))) {
    const file = join(folder, name);
    if (statSync(file).size < maxLogBytes) continue;
    copyFileSync(file, `${file}.1`);
    truncateSync(file, 0);
  }
}
