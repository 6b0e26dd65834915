import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePostgresFolder } from '../../../lab/servers/postgres-home.js';
import { startPostgres, type PostgresServer } from '../../../lab/servers/postgres.js';
import { findProcess } from '../../../lab/servers/process-table.js';
import { findTemporalCli } from '../../../lab/servers/temporal-cli.js';
import { startTemporal, type TemporalServer } from '../../../lab/servers/temporal.js';
import { findFreePorts } from '../../../lab/stack/ports.js';
import { readStackSettings } from '../../../lab/stack/settings.js';
import { searchAttributes } from '../../../workflows/contracts/search-attributes.js';
import { areServersShared, askForServer } from './shared-servers.js';
import { servers, type TestPostgres, type TestTemporal } from './started-servers.js';

/** The number of tries to start a server: another program may take its port meanwhile. */
const attempts = 3;

/** The servers that this process has requested from the one that began a parallel run. */
const asked: { postgres?: Promise<TestPostgres>; temporal?: Promise<TestTemporal> } = {};

/**
 * The run's one PostgreSQL server. The first call starts it (about a second). Tests use databases of their own on it:
 * createTestDatabase.
 */
export async function getPostgres(): Promise<TestPostgres> {
  if (areServersShared()) return (asked.postgres ??= askForServer('postgres'));
  return ownPostgres();
}

/** The server of this process. */
export function ownPostgres(): Promise<PostgresServer> {
  servers.postgres ??= startTestPostgres(testFolder());
  return servers.postgres;
}

/**
 * Starts one more server (about a second), for what the transactions of another database would change: they hold back
 * which rows a page gives up, and so where the next ones stand. The caller stops it.
 */
export async function startPostgresApart(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(testFolder(), 'apart-'));
  chmodSync(folder, 0o711);
  const server = await startTestPostgres(folder);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  return { ...server, stop: () => server.stop().finally(remove) };
}

function startTestPostgres(folder: string): Promise<PostgresServer> {
  return onFreePort((port) =>
    startPostgres({
      dataDir: choosePostgresFolder(folder),
      port,
      logFile: join(folder, 'postgres.log'),
      log: () => undefined,
      disposable: true,
      // Another version than npm's.
      binDir: process.env['TEST_POSTGRES_BIN'],
    }),
  );
}

/**
 * The run's one Temporal server, in memory, with the namespace `default` and the product's search attributes. The first
 * call starts it (about a second). Tests differ in task queue names and workflow ids.
 * @throws Error when there is no Temporal CLI and none could be fetched before the first test (root-hooks.ts)
 */
export async function getTemporal(): Promise<TestTemporal> {
  if (areServersShared()) return (asked.temporal ??= askForServer('temporal'));
  return ownTemporal();
}

/** The server of this process. */
export function ownTemporal(): Promise<TemporalServer> {
  servers.temporal ??= startTestTemporal();
  return servers.temporal;
}

async function startTestTemporal(): Promise<TemporalServer> {
  const { cliPlaces, env } = readStackSettings();
  const cliPath = await findTemporalCli({ places: cliPlaces, log: () => undefined, mayFetch: false });
  return onFreePort((port) =>
    startTemporal({
      cliPath,
      port,
      uiPort: undefined,
      dbFile: undefined,
      namespace: 'default',
      searchAttributes,
      logFile: join(testFolder(), 'temporal.log'),
      env,
      // By default a timer comes up to a second late, as if the clocks of several hosts differed. Here is one host.
      dynamicConfig: { 'history.timerProcessorMaxTimeShift': '10ms' },
    }),
  );
}

async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const [port = 0] = await findFreePorts(1);
    try {
      return await start(port);
    } catch (error) {
      if (attempt >= attempts) throw error;
    }
  }
}

/** Makes a folder for this run, and removes the folders of runs that were killed. */
function testFolder(): string {
  if (servers.folder !== undefined) return servers.folder;
  const room = findRoom();
  for (const name of readdirSync(room)) {
    const owner = /^gpu-rental-test-(\d+)-/.exec(name)?.[1];
    if (owner === undefined || findProcess(Number(owner))) continue;
    rmSync(join(room, name), { recursive: true, force: true });
  }
  servers.folder = mkdtempSync(join(room, `gpu-rental-test-${process.pid}-`));
  // When root runs the tests, the postgres user needs access through this folder to its own below.
  chmodSync(servers.folder, 0o711);
  return servers.folder;
}

/** More than the databases of a whole run and their log take at once. */
const NEEDED_BYTES = 8 * 1024 ** 3;

/**
 * Memory, where there is enough of it. A run makes and drops some thousand databases of hundreds of files each, which
 * takes 0.1 s in memory and up to a second on a disk.
 */
function findRoom(): string {
  const memory = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize >= NEEDED_BYTES) return memory;
  } catch {
    // This system has none.
  }
  return tmpdir();
}
