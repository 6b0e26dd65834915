import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  allocatorSettings,
  sizeDatabase,
  type DatabaseMachine,
  type DatabaseSettings,
} from '../../domain/operations/database-size.js';
import {
  findPostgresBinaries,
  findPostgresUser,
  makeOwnedFolder,
  type PostgresBinaries,
  type SystemUser,
} from './postgres-home.js';
import { findProcess } from './process-table.js';
import { startProgram, type Program } from './program.js';

export interface PostgresOptions {
  /** The cluster's folder; made on the first start. choosePostgresFolder finds one that the postgres user reaches. */
  readonly dataDir: string;
  readonly port: number;
  readonly logFile: string;
  readonly log: (line: string) => void;
  /** For tests: faster, but a power failure loses the data. */
  readonly disposable?: boolean;
  /** Sizes the server to this machine. Without it the server stays small, as many of them may run at once. */
  readonly machine?: DatabaseMachine | undefined;
  /** Settings of this server's own. */
  readonly settings?: DatabaseSettings | undefined;
  /** The folder of another installation's programs; undefined: npm's. */
  readonly binDir?: string | undefined;
  /** Gives up a start that is under way. */
  readonly signal?: AbortSignal | undefined;
}

/** A database server on loopback that ends with us. */
export interface PostgresServer extends Program {
  /** The product's own database, as a role that is no superuser. */
  readonly url: string;
  /** As superuser, for making and dropping databases. */
  readonly adminUrl: string;
}

const databaseName = 'gpu_rental';
/** The server listens on loopback only, and holds play money. */
export const serverPassword = 'gpu_rental';
/** The end of a server writes all of its buffers, and the start after a crash reads the log since a checkpoint. */
const limits = { small: { readyMs: 60_000, stopMs: 20_000 }, sized: { readyMs: 600_000, stopMs: 120_000 } };

const serverSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
};

/** A crash of the machine may lose what these settings keep in memory; a crash of a process does not. */
const disposableSettings = {
  ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
  // Each connection proves the password, and this server's protects nothing.
  scram_iterations: '1',
};

/**
 * Starts PostgreSQL 18 on 127.0.0.1 (it makes the cluster, the role and the database if missing) and waits until it
 * accepts connections. Recovers after a crash: it first stops a server that still runs on this folder, and removes the
 * lock file of a dead one.
 * @throws ProgramError with the server's last lines, or Error saying what to install
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const user = findPostgresUser();
  const copyDir = join(dirname(options.dataDir), 'postgres-binaries');
  const binaries = findPostgresBinaries(user, copyDir, options.binDir);
  await stopLeftover(options.dataDir, options.log);
  if (!existsSync(join(options.dataDir, 'gpu-rental-ready'))) await makeCluster(options, binaries, user);
  const { machine } = options;
  const { readyMs, stopMs } = machine ? limits.sized : limits.small;
  const settings = {
    ...serverSettings,
    ...(options.disposable === true ? disposableSettings : {}),
    ...(machine
      ? sizedSettings(machine, (name, value) => takesSetting(binaries, user, options.dataDir, name, value))
      : {}),
    ...options.settings,
  };
  const adminUrl = urlOf('postgres', options.port, 'postgres');
  const program = await startProgram({
    name: 'PostgreSQL',
    command: binaries.postgres,
    args: [
      ...['-D', options.dataDir, '-p', String(options.port)],
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    // Nothing of our environment: PostgreSQL would take PGDATA, PGPORT and the like for settings.
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...(machine ? allocatorSettings : {}) },
    cwd: options.dataDir,
    logFile: options.logFile,
    user,
    isReady: () => acceptsConnections(adminUrl),
    readyLimitMs: readyMs,
    // "Fast shutdown" ends open sessions. SIGTERM would wait for them.
    stopSignal: 'SIGINT',
    stopLimitMs: stopMs,
    signal: options.signal,
  });
  try {
    // What the primary has made, a standby has.
    if (!existsSync(join(options.dataDir, 'standby.signal'))) await makeDatabase(adminUrl);
  } catch (error) {
    await program.stop();
    throw error;
  }
  return { ...program, url: urlOf(databaseName, options.port, databaseName), adminUrl };
}

/**
 * The settings of a server that has a machine to itself or shares it with few others.
 * @param takes whether the build of the server knows this value
 */
export function sizedSettings(
  machine: DatabaseMachine,
  takes: (name: string, value: string) => boolean,
): DatabaseSettings {
  const compression = { wal_compression: 'lz4' };
  return {
    ...sizeDatabase(machine),
    // The other methods cost more processor time than their smaller log saves.
    ...(takes('wal_compression', compression.wal_compression) ? compression : {}),
  };
}

/** Asks the program itself: it refuses a value that it was built without. */
export function takesSetting(
  { postgres }: PostgresBinaries,
  user: SystemUser | undefined,
  dataDir: string,
  name: string,
  value: string,
): boolean {
  const args = ['-D', dataDir, '-c', `${name}=${value}`, '-C', name];
  return spawnSync(postgres, args, { ...user, cwd: '/', stdio: 'ignore' }).status === 0;
}

function urlOf(role: string, port: number, database: string): string {
  return `postgres://${role}:${serverPassword}@127.0.0.1:${port}/${database}`;
}

/** Asks a database server whether it accepts connections, within 2 s. */
export async function acceptsConnections(url: string): Promise<boolean> {
  return (await findConnectionFault(url)) === undefined;
}

/** @returns the reason why a database can't be reached, or undefined when it can */
export async function findConnectionFault(url: string): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  // A connection that breaks while it closes reports it here; it has served its purpose.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return undefined;
  } catch (error) {
    return describe(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join(', ');
  return error instanceof Error && error.message !== '' ? error.message : String(error);
}

/**
 * Stops a server that was left over. postmaster.pid outlives a crash, and its pid may meanwhile belong to another
 * process.
 */
async function stopLeftover(dataDir: string, log: (line: string) => void): Promise<void> {
  const pid = readPostmasterPid(dataDir);
  if (pid === undefined) return;
  const isRunning = () => findPostgresProcess(dataDir) === pid;
  if (!isRunning()) {
    log(`PostgreSQL was not shut down cleanly (process ${pid} is gone): it will recover its data`);
    rmSync(join(dataDir, 'postmaster.pid'), { force: true });
    return;
  }
  log(`an earlier PostgreSQL still runs on this folder (process ${pid}): stopping it`);
  process.kill(pid, 'SIGINT');
  const deadline = performance.now() + limits.sized.stopMs;
  while (isRunning()) {
    if (performance.now() > deadline) {
      throw new Error(
        `An earlier PostgreSQL (process ${pid}) still runs on ${dataDir} and does not stop. Run "kill -QUIT ${pid}".`,
      );
    }
    await sleep(100);
  }
}

/** @returns the pid of the server that runs on a cluster's folder, if any */
export function findPostgresProcess(dataDir: string): number | undefined {
  const pid = readPostmasterPid(dataDir);
  if (pid === undefined) return undefined;
  return findProcess(pid)?.command.includes(dataDir) === true ? pid : undefined;
}

function readPostmasterPid(dataDir: string): number | undefined {
  const file = join(dataDir, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  return Number.parseInt(readFileSync(file, 'utf8'), 10);
}

async function makeCluster(
  options: PostgresOptions,
  binaries: PostgresBinaries,
  user: SystemUser | undefined,
): Promise<void> {
  options.log(`making a new database cluster in ${options.dataDir}`);
  // Without the mark below, an earlier initdb was cut short and its remains are useless.
  rmSync(options.dataDir, { recursive: true, force: true });
  makeOwnedFolder(options.dataDir, user);
  const passwordFile = `${options.dataDir}.password`;
  writeFileSync(passwordFile, `${serverPassword}\n`, { mode: 0o600 });
  if (user) chownSync(passwordFile, user.uid, user.gid);
  try {
    await runInitdb(
      binaries.initdb,
      [
        ...[`--pgdata=${options.dataDir}`, '--username=postgres', `--pwfile=${passwordFile}`],
        // The built-in locale sorts alike on every machine, whatever locales are installed.
        ...['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--locale-provider=builtin'],
        ...['--builtin-locale=C.UTF-8', ...(options.disposable === true ? ['--no-sync'] : [])],
      ],
      user,
    );
  } finally {
    rmSync(passwordFile, { force: true });
  }
  writeFileSync(join(options.dataDir, 'gpu-rental-ready'), 'initdb ran to its end\n');
}

async function runInitdb(initdb: string, args: string[], user: SystemUser | undefined): Promise<void> {
  const child = spawn(initdb, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    ...user,
  });
  const output: string[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk.toString('utf8')));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0)
    throw new Error(`initdb failed (exit code ${code ?? 'unknown'}):\n${output.join('').trim()}`);
}

async function makeDatabase(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const roles = await client.query('select 1 from pg_roles where rolname = $1', [databaseName]);
    if (roles.rowCount === 0) {
      await client.query(`create role ${databaseName} login createdb password '${serverPassword}'`);
    }
    // Its migrations make the roles of the processes.
    await client.query(`alter role ${databaseName} createrole`);
    const databases = await client.query('select 1 from pg_database where datname = $1', [databaseName]);
    if (databases.rowCount === 0) await client.query(`create database ${databaseName} owner ${databaseName}`);
  } finally {
    await client.end();
  }
}
