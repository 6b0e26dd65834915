import { copyFileSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { migrateToLatest } from '../../migrations/migrate.js';
import { grantSight } from '../../migrations/sight.js';
import { searchAttributes } from '../../workflows/contracts/search-attributes.js';
import { describeMachine } from '../servers/machine.js';
import { argsToRun } from '../programs/built.js';
import { choosePostgresFolder } from '../servers/postgres-home.js';
import { findConnectionFault, startPostgres } from '../servers/postgres.js';
import { startProgram } from '../servers/program.js';
import { findTemporalCli } from '../servers/temporal-cli.js';
import { findTemporalFault, registerSearchAttributes, startTemporal } from '../servers/temporal.js';
import { childrenOf, logFileOf, planOf, type Child } from './children.js';
import { dashboardUrlOf, prepareDashboard } from './dashboard.js';
import { lockDataDir } from './lock.js';
import { awaitOffers } from './offers.js';
import { forgetOperators, makeOperators } from './operators.js';
import { assertPortsFree } from './ports.js';
import { readSecrets } from './secrets.js';
import type { StackSettings } from './settings.js';
import { supervise, type Supervised } from './supervise.js';
import { urlsOf, type StackUrls } from './urls.js';

export interface StackOptions {
  readonly settings: StackSettings;
  /** Sizes its own database to this machine (`npm start`, benchmarks). Else it stays small: several stacks may run. */
  readonly isSized?: boolean;
  /** Gets a line per step, and a line for each later event. */
  readonly log: (line: string) => void;
  /** Gives up a start that is under way; the parts that run already are stopped. */
  readonly signal?: AbortSignal;
}

/** The whole service on one machine, up and supervised. */
export interface Stack {
  readonly settings: StackSettings;
  readonly urls: StackUrls;
  /** The address of the dashboard; null when it could not be built. */
  readonly dashboardUrl: string | null;
  /** The folder of the database; null when the database is not the stack's own. */
  readonly postgresDir: string | null;
  /** Returns the pid of a part by its name ("worker", "API", "GPU provider", …); undefined when it is not running. */
  pid(name: string): number | undefined;
  /** Stops the API, then the worker, then the rest together, each within its time limit. */
  stop(): Promise<void>;
  /** Kills all parts at once. */
  kill(): void;
}

/** A stack in the making: the parts that have been started so far. */
interface Build extends StackOptions {
  /** Fires also when a part has failed: then the others need not come up. */
  readonly signal: AbortSignal;
  readonly giveUp: (reason: unknown) => void;
  readonly urls: StackUrls;
  readonly parts: Supervised[];
  /** Runs one step and prints a line with the elapsed seconds when it is done. */
  readonly step: (what: string, run: () => Promise<string | undefined>) => Promise<void>;
}

const logCheckMs = 60_000;
const maxLogBytes = 20 * 1024 * 1024;

/**
 * Brings the whole service up on this machine: PostgreSQL, Temporal, the schema, the lab's GPU provider, payment
 * processor and mail inbox, the worker and the API. What needs nobody starts at once and together, the dashboard's build
 * too; the worker and the API follow. It waits until each is ready, and until there is something to rent.
 * @throws Error saying what to do; the parts that were started are stopped again
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { settings, log } = options;
  const urls = urlsOf(settings);
  const lock = lockDataDir(settings.dataDir, urls);
  // What needs nobody, and what needs it.
  const parts: Supervised[] = [];
  const serving: Supervised[] = [];
  const stop = async () => {
    forgetOperators(settings);
    for (const part of [...serving].reverse()) await stopPart(part, serving, log);
    await Promise.all([...parts].reverse().map((part) => stopPart(part, parts, log)));
    lock.release();
  };
  const givenUp = new AbortController();
  const signal = either(givenUp.signal, options.signal);
  const giveUp = (reason: unknown) => givenUp.abort(reason);
  const build: Build = { ...options, signal, giveUp, urls, parts, step: createStep(log, signal) };
  try {
    await assertPortsFree(settings, { afterCrash: lock.afterCrash, log });
    const { outside, service } = childrenOf(settings, readSecrets(settings.dataDir));
    const dashboard = startDashboard(build);
    const postgresDir = await startServers(build, outside);
    await makeOperators(settings, readSecrets(settings.dataDir));
    await startChildren({ ...build, parts: serving }, service, { API: dashboard });
    await build.step('offers', () => awaitOffers(settings.databaseUrl ?? urls.database, signal));
    const trimming = setInterval(() => trimLogs(settings), logCheckMs);
    return {
      settings,
      urls,
      dashboardUrl: (await dashboard) ? dashboardUrlOf(settings) : null,
      postgresDir,
      pid: (name) => [...parts, ...serving].find((part) => part.name === name)?.pid(),
      async stop() {
        clearInterval(trimming);
        await stop();
      },
      kill() {
        clearInterval(trimming);
        for (const part of [...parts, ...serving]) part.kill();
        forgetOperators(settings);
        lock.release();
      },
    };
  } catch (error) {
    giveUp(error);
    await stop();
    throw error;
  }
}

/** A part leaves its list once it is stopped, so that a kill meanwhile reaches all parts that still run. */
async function stopPart(part: Supervised, among: Supervised[], log: StackOptions['log']): Promise<void> {
  log(`stopping ${part.name}`);
  await part.stop();
  among.splice(among.indexOf(part), 1);
}

/** Starts what needs nobody. @returns the folder of the database; null when it is not the stack's own */
async function startServers(build: Build, outside: readonly Child[]): Promise<string | null> {
  const [postgresDir] = await together(build, [
    startDatabase(build),
    startWorkflowServer(build),
    startChildren(build, outside),
  ] as const);
  return postgresDir;
}

/**
 * Waits for all, also after the failure of one: a part that came up later would miss the stop.
 * @throws what failed first; the others are given up
 */
async function together<T extends readonly Promise<unknown>[]>(
  { giveUp }: Build,
  starts: T,
): Promise<{ -readonly [Index in keyof T]: Awaited<T[Index]> }> {
  const failures: unknown[] = [];
  for (const start of starts) {
    start.catch((reason: unknown) => {
      failures.push(reason);
      giveUp(reason);
    });
  }
  await Promise.allSettled(starts);
  if (failures.length > 0) throw failures[0];
  return Promise.all(starts);
}

function createStep(log: StackOptions['log'], signal: AbortSignal): Build['step'] {
  const startedAt = Date.now();
  return async (what, run) => {
    signal.throwIfAborted();
    const words = await run();
    const elapsed = ((Date.now() - startedAt) / 1000).toFixed(1).padStart(6);
    log(`${elapsed} s  ${what}${words === undefined ? '' : `: ${words}`}`);
  };
}

/** @returns whether there is one; it never rejects, because whoever waits for it may have failed before */
async function startDashboard({ settings, log, signal, step }: Build): Promise<boolean> {
  const state = { isBuilt: false };
  const building = step('dashboard', async () => {
    const { isBuilt, words } = await prepareDashboard(settings, log, signal);
    state.isBuilt = isBuilt;
    return words;
  });
  await building.catch(() => undefined);
  return state.isBuilt;
}

async function startDatabase({
  settings,
  isSized,
  log,
  signal,
  urls,
  parts,
  step,
}: Build): Promise<string | null> {
  const folder = settings.databaseUrl === null ? choosePostgresFolder(settings.dataDir) : null;
  const databaseUrl = settings.databaseUrl ?? urls.database;
  /** Of a server of our own: as its superuser. */
  let adminUrl: string | undefined;
  await step('PostgreSQL', async () => {
    if (folder === null) {
      const fault = await findConnectionFault(databaseUrl);
      if (fault === undefined) return `the one of DATABASE_URL (${urls.database})`;
      throw new Error(
        `The database of DATABASE_URL can not be used: ${fault}. Correct it, or unset it for an own one.`,
      );
    }
    const start = async (ended: AbortSignal) => {
      const started = await startPostgres({
        dataDir: folder,
        port: settings.ports.postgres,
        logFile: logFileOf('postgres', settings),
        log,
        machine: isSized === true ? describeMachine(folder) : undefined,
        signal: either(ended, signal),
      });
      ({ adminUrl } = started);
      return started;
    };
    parts.push(await supervise('PostgreSQL', start, log));
    return `ready, data in ${folder}`;
  });
  await step('schema', async () => {
    const taken = await migrateToLatest(databaseUrl, { say: log });
    const unseen = await grantSight(adminUrl ?? databaseUrl);
    if (unseen !== undefined) log(unseen);
    return taken.length === 0 ? 'up to date' : `migrated (${taken.join(', ')})`;
  });
  return folder;
}

async function startWorkflowServer({ settings, log, signal, urls, parts, step }: Build): Promise<void> {
  const { temporal, temporalNamespace: namespace, env } = settings;
  if (temporal !== null) {
    await step('Temporal', async () => {
      const fault = await findTemporalFault(temporal);
      if (fault !== undefined) {
        throw new Error(
          `The Temporal of TEMPORAL_ADDRESS (namespace ${namespace}) can not be used: ${fault} ` +
            'Correct it, or unset it for an own one.',
        );
      }
      await registerSearchAttributes(temporal, searchAttributes);
      return `the one of TEMPORAL_ADDRESS (${temporal.address})`;
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

/** @param awaited what the child of a name waits for before it starts */
async function startChildren(
  build: Build,
  children: readonly Child[],
  awaited: Readonly<Record<string, Promise<unknown>>> = {},
): Promise<void> {
  const { settings, log, signal, parts, step } = build;
  const secrets = readSecrets(settings.dataDir);
  const started: (Supervised | undefined)[] = children.map(() => undefined);
  const starts = children.map(async (child, index) => {
    await awaited[child.name];
    const plan = planOf(child, settings, secrets);
    await step(child.name, async () => {
      // Asked at each start: who changes the sources gets the new ones when the part is started again.
      const start = async (ended: AbortSignal) => {
        const args = [...(await argsToRun(child.file)), ...(child.args ?? [])];
        return startProgram({ ...plan, args, signal: either(ended, signal) });
      };
      started[index] = await supervise(child.name, start, log);
      return 'ready';
    });
  });
  try {
    await together(build, starts);
  } finally {
    // Whoever was ready first: the API is stopped before the worker.
    parts.push(...started.filter((part) => part !== undefined));
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
