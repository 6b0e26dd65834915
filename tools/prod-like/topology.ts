import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureLogins } from '../../migrations/logins.js';
import { migrateToLatest } from '../../migrations/migrate.js';
import { searchAttributes } from '../../workflows/contracts/search-attributes.js';
import { choosePostgresFolder } from '../../lab/servers/postgres-home.js';
import { startPostgres, type PostgresServer } from '../../lab/servers/postgres.js';
import { ProgramError, startProgram, type Program } from '../../lab/servers/program.js';
import {
  makeTemporalDatabases,
  migrateTemporal,
  placeOf,
  registerNamespace,
  startTemporalOnPostgres,
  temporalPortCount,
  type TemporalOnPostgres,
} from '../../lab/servers/temporal-on-postgres.js';
import { findTemporalServer } from '../../lab/servers/temporal-server-build.js';
import { childrenOf, planOf } from '../../lab/stack/children.js';
import { findFreePorts, findStackPorts } from '../../lab/stack/ports.js';
import { readSecrets } from '../../lab/stack/secrets.js';
import { portVariables, readStackSettings, type StackSettings } from '../../lab/stack/settings.js';
import { urlsOf, type StackUrls } from '../../lab/stack/urls.js';
import { startCollector, type Collector } from './collector.js';
import { startPair } from './failover.js';
import { startFront, type Front } from './front.js';
import { apiPlan, listenerPlan, loginUrl, password, workerPlan, type Reached } from './plans.js';
import { guardedEntry, plainEntry, type Entry } from './temporal-gate.js';

/** A process that is restarted under load. */
export type PartName = 'primary' | 'Temporal' | 'API 1' | 'API 2' | 'worker 1' | 'worker 2' | 'listener';

/** How a part is ended, and what is started in its place. */
export type How = 'stop' | 'kill' | 'upgrade';

/**
 * The shape of docker-compose.yml twice over, as processes: a primary and a standby, two APIs behind a balancer, two
 * workers, the listener that machines call, a server of Temporal's own, and a collector of traces.
 */
export interface Topology {
  readonly urls: StackUrls;
  /** The database's address as the owner of the schema, for the checks. */
  readonly ownerUrl: string;
  readonly opsUrl: string;
  /** By which operators enter Temporal. */
  readonly opsTemporal: NodeJS.ProcessEnv;
  readonly front: Front;
  readonly collector: Collector;
  /**
   * Ends a part, orderly or by SIGKILL, and starts it again; `upgrade`: as this release. Resolves when it is ready.
   * @returns when a primary was killed, by performance.now()
   */
  restart(name: PartName, how: How): Promise<number | undefined>;
  /** Brings the database of an earlier release to this one's schema. */
  migrate(): Promise<unknown>;
  stop(): Promise<void>;
}

interface Part {
  /** @param root the folder of the release that it runs */
  readonly start: (root: string) => Promise<Program>;
  root: string;
  program: Program;
}

const temporalLogin = { user: 'temporal', password: 'temporal' } as const;

/**
 * Starts the whole topology, with its own data below a folder. If that fails, it stops the parts that were started.
 * @param from the folder of an earlier release, built: its schema, API and worker begin, until they are upgraded
 */
export async function startTopology(
  folder: string,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
  from: string | undefined,
): Promise<Topology> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (let next = stops.pop(); next !== undefined; next = stops.pop()) await next();
  };
  try {
    return { ...(await startParts(folder, env, { log, stops, from })), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(
  folder: string,
  env: NodeJS.ProcessEnv,
  { log, stops, from }: Starting,
): Promise<Omit<Topology, 'stop'>> {
  const ports = await findFreePorts(temporalPortCount + 1);
  const entry = entryOf(from, folder, ports);
  const settings = await settingsOn(folder, env, entry.port);
  const programs = await findTemporalServer(settings.cliPlaces, log);
  const { pair, temporalPort, postgres } = await startDatabases(folder, settings.ports.postgres, {
    log,
    stops,
    from,
  });
  const parts = new Map<PartName, Part>();
  const add = async (name: PartName, start: Part['start']): Promise<void> => {
    const root = from ?? settings.projectDir;
    const part: Part = { start, root, program: await start(root) };
    parts.set(name, part);
    stops.push(() => part.program.stop());
    log(`${name} is ready`);
  };
  const temporal: TemporalOnPostgres = {
    programs,
    postgres: { host: '127.0.0.1', port: temporalPort, ...temporalLogin },
    ports,
    folder: join(folder, 'temporal'),
    logFile: join(folder, 'logs', 'temporal.log'),
    tls: entry.tls,
  };
  await migrateTemporal(temporal);
  await add('Temporal', () => startTemporalOnPostgres(temporal));
  await registerNamespace(placeOf(temporal, settings.temporalNamespace), searchAttributes);
  for (const gate of await entry.open(settings, placeOf(temporal).address)) stops.push(() => gate.stop());
  const { outside } = childrenOf(settings, readSecrets(folder));
  for (const child of outside) {
    await stoppable(stops, startProgram(planOf(child, settings, readSecrets(folder))));
  }
  const collector = await stoppable(stops, startCollector());
  const shows = (role: 'api' | 'worker'): NodeJS.ProcessEnv => ({
    ...entry.shows(role),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    // A release before 0.3 has no listener.
    ...(from !== undefined && { MACHINE_URL: '' }),
  });
  const apiPorts = await findFreePorts(2);
  for (const [index, port] of apiPorts.entries()) {
    const plan = apiPlan(settings, postgres, index, port, shows('api'));
    await add(`API ${index + 1}` as PartName, (root) => startProgram({ ...plan, cwd: root }));
  }
  for (const name of ['worker 1', 'worker 2'] as const) {
    const plan = workerPlan(settings, postgres, name, shows('worker'));
    await add(name, (root) => startProgram({ ...plan, cwd: root }));
  }
  if (from === undefined) await add('listener', () => startProgram(listenerPlan(settings, postgres)));
  const front = await startFront(settings.ports.api, apiPorts);
  stops.push(() => front.close());
  return {
    urls: urlsOf(settings),
    ownerUrl: postgres.url,
    opsUrl: loginUrl(postgres, 'ops'),
    opsTemporal: entry.shows('ops'),
    front,
    collector,
    restart: (name, how) =>
      name === 'primary' ? pair.killPrimary() : restartPart(parts.get(name), how, settings.projectDir, log),
    migrate: () => migrateToLatest(postgres.url, { say: log }),
  };
}

interface Starting {
  readonly log: (line: string) => void;
  readonly stops: (() => Promise<unknown>)[];
  readonly from: string | undefined;
}

/** Starts the service's pair and the server of Temporal's own, each with its databases. */
async function startDatabases(folder: string, port: number, { log, stops, from }: Starting) {
  const [secondPort = 0, temporalPort = 0] = await findFreePorts(2);
  const seat = (name: string, port: number) => ({
    ...{ name, port, log, dataDir: `${choosePostgresFolder(folder)}-${name}` },
    logFile: join(folder, 'logs', `postgres-${name}.log`),
  });
  const pair = await stoppable(stops, startPair([seat('first', port), seat('second', secondPort)]));
  const temporalsOwn = await stoppable(stops, startPostgres(seat('temporal', temporalPort)));
  log('PostgreSQL is ready, and so is its standby');
  // A release before 0.3 knows one host alone.
  const postgres = { url: from === undefined ? pair.url : primaryOnly(pair.url) };
  await prepareDatabases(postgres, temporalsOwn, from);
  return { pair, temporalPort, postgres };
}

async function stoppable<Started extends { stop(): Promise<unknown> }>(
  stops: (() => Promise<unknown>)[],
  starting: Promise<Started>,
): Promise<Started> {
  const started = await starting;
  stops.push(() => started.stop());
  return started;
}

/** A release before 0.3 knows no TLS. */
function entryOf(from: string | undefined, folder: string, ports: readonly number[]): Entry {
  return from === undefined ? guardedEntry(folder, ports.at(-1) ?? 0) : plainEntry(ports[0] ?? 0);
}

/** The first of the hosts, which begins as the primary. */
function primaryOnly(url: string): string {
  return url.replace(/,[^/]*/, '');
}

async function restartPart(
  part: Part | undefined,
  how: How,
  present: string,
  log: Starting['log'],
): Promise<undefined> {
  if (part === undefined) throw new Error('There is no such part.');
  if (how === 'kill') part.program.kill();
  else await part.program.stop();
  await part.program.exited;
  if (how === 'upgrade') part.root = present;
  part.program = await startAsKept(part, log);
  return undefined;
}

const startTries = 3;

/** A process that ends while it starts is started again, as compose and Kubernetes do. */
async function startAsKept(part: Part, log: Starting['log']): Promise<Program> {
  for (let left = startTries - 1; ; left -= 1) {
    try {
      return await part.start(part.root);
    } catch (error) {
      if (left === 0 || !(error instanceof ProgramError)) throw error;
      log(`${error.message.split('\n')[0] ?? ''} It is started again.`);
    }
  }
}

/** The settings on free ports, without the local stack's and without external servers. */
async function settingsOn(
  folder: string,
  env: NodeJS.ProcessEnv,
  temporalPort: number,
): Promise<StackSettings> {
  return readStackSettings({
    ...env,
    ...(await findStackPorts()),
    [portVariables.temporal.variable]: String(temporalPort),
    DATABASE_URL: '',
    TEMPORAL_ADDRESS: '',
    TEMPORAL_NAMESPACE: '',
    LAB_DATA_DIR: folder,
  });
}

/** Does the work of docker-compose.yml's "migrate", and makes the databases that Temporal's image makes. */
async function prepareDatabases(
  postgres: Reached,
  temporalsOwn: PostgresServer,
  from: string | undefined,
): Promise<void> {
  await makeTemporalDatabases(temporalsOwn.adminUrl, temporalLogin);
  if (from === undefined) await migrateToLatest(postgres.url);
  else migrateBy(from, postgres.url);
  await ensureLogins(postgres.url, {
    api: password('api'),
    worker: password('worker'),
    ops: password('ops'),
    signer: null,
    machine: from === undefined ? password('machine') : null,
  });
}

/** Makes the schema as an earlier release does. */
function migrateBy(root: string, url: string): void {
  const script = `import('${root}/dist/migrations/migrate.js').then((m) => m.migrateToLatest('${url}'))`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The release in ${root} can’t migrate: ${stderr}`);
}
