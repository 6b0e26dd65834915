import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
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

/** A server on a port that another program took meanwhile is tried again on another one. */
const attempts = 3;

/** Of the process that began a parallel run. */
const asked: { postgres?: Promise<TestPostgres>; temporal?: Promise<TestTemporal> } = {};

/**
 * The run's one PostgreSQL server, started when it is first asked for (about a second). A test takes a database of
 * its own on it: createTestDatabase.
 */
export async function getPostgres(): Promise<TestPostgres> {
  if (areServersShared()) return (asked.postgres ??= askForServer('postgres'));
  return ownPostgres();
}

/** The server of this process. */
export function ownPostgres(): Promise<PostgresServer> {
  servers.postgres ??= onFreePort((port) => {
    const dataDir = choosePostgresFolder(testFolder());
    return startPostgres({
      dataDir,
      port,
      logFile: join(testFolder(), 'postgres.log'),
      log: () => undefined,
      disposable: true,
    });
  });
  return servers.postgres;
}

/**
 * The run's one Temporal server, in memory, with the namespace `default` and the product's search attributes;
 * started when it is first asked for (about a second). Tests keep apart by task queue names and workflow ids.
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

/** A folder of this run's own; those of runs that were killed are removed. */
function testFolder(): string {
  if (servers.folder !== undefined) return servers.folder;
  for (const name of readdirSync(tmpdir())) {
    const owner = /^gpu-rental-test-(\d+)-/.exec(name)?.[1];
    if (owner === undefined || findProcess(Number(owner))) continue;
    rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
  servers.folder = mkdtempSync(join(tmpdir(), `gpu-rental-test-${process.pid}-`));
  // When root runs the tests, the postgres user must get through to its own folder below.
  chmodSync(servers.folder, 0o711);
  return servers.folder;
}
