import { join } from 'node:path';
import type { databaseRoles } from '../../migrations/roles.js';
import { ensureLogins, loginOf } from '../../migrations/logins.js';
import { migrateToLatest } from '../../migrations/migrate.js';
import { searchAttributes } from '../../workflows/contracts/search-attributes.js';
import { choosePostgresFolder } from '../../lab/servers/postgres-home.js';
import { startPostgres, type PostgresServer } from '../../lab/servers/postgres.js';
import { answersOk, startProgram, type Program, type ProgramPlan } from '../../lab/servers/program.js';
import {
  addressOf,
  makeTemporalDatabases,
  migrateTemporal,
  registerNamespace,
  startTemporalOnPostgres,
  temporalPortCount,
  type TemporalOnPostgres,
} from '../../lab/servers/temporal-on-postgres.js';
import { findTemporalServer } from '../../lab/servers/temporal-server-build.js';
import { childrenOf, planOf, type Child } from '../../lab/stack/children.js';
import { findFreePorts, findStackPorts } from '../../lab/stack/ports.js';
import { readSecrets } from '../../lab/stack/secrets.js';
import { portVariables, readStackSettings, type StackSettings } from '../../lab/stack/settings.js';
import { urlsOf, type StackUrls } from '../../lab/stack/urls.js';
import { startFront, type Front } from './front.js';

/** A process that is restarted under load. */
export type PartName = 'Temporal' | 'API 1' | 'API 2' | 'worker 1' | 'worker 2';

/** The shape of docker-compose.yml twice over, as processes: two APIs behind a balancer, two workers. */
export interface Topology {
  readonly urls: StackUrls;
  /** The database's address as the owner of the schema, for the checks. */
  readonly ownerUrl: string;
  readonly opsUrl: string;
  readonly front: Front;
  /** Ends a part, orderly or by SIGKILL, and starts it again. Resolves when it is ready. */
  restart(name: PartName, how: 'stop' | 'kill'): Promise<void>;
  stop(): Promise<void>;
}

interface Part {
  readonly start: () => Promise<Program>;
  program: Program;
}

const password = (role: string): string => `prod-like-${role}`;
const temporalLogin = { user: 'temporal', password: 'temporal' } as const;

/** Starts the whole topology, with its own data below a folder. If that fails, it stops the parts that were started. */
export async function startTopology(
  folder: string,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<Topology> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (let next = stops.pop(); next !== undefined; next = stops.pop()) await next();
  };
  try {
    return { ...(await startParts(folder, env, log, stops)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startParts(
  folder: string,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
  stops: (() => Promise<unknown>)[],
): Promise<Omit<Topology, 'stop'>> {
  const ports = await findFreePorts(temporalPortCount);
  const settings = await settingsOn(folder, env, ports[0] ?? 0);
  const programs = await findTemporalServer(settings.cliPlaces, log);
  const postgres = await startPostgres({
    dataDir: choosePostgresFolder(folder),
    port: settings.ports.postgres,
    logFile: join(folder, 'logs', 'postgres.log'),
    log,
  });
  stops.push(() => postgres.stop());
  log('PostgreSQL is ready');
  await prepareDatabases(postgres);
  const parts = new Map<PartName, Part>();
  const add = async (name: PartName, start: () => Promise<Program>): Promise<void> => {
    const part: Part = { start, program: await start() };
    parts.set(name, part);
    stops.push(() => part.program.stop());
    log(`${name} is ready`);
  };
  const temporal: TemporalOnPostgres = {
    programs,
    postgres: { host: '127.0.0.1', port: settings.ports.postgres, ...temporalLogin },
    ports,
    folder: join(folder, 'temporal'),
    logFile: join(folder, 'logs', 'temporal.log'),
  };
  await migrateTemporal(temporal);
  await add('Temporal', () => startTemporalOnPostgres(temporal));
  await registerNamespace(addressOf(temporal), settings.temporalNamespace, searchAttributes);
  const { outside } = childrenOf(settings, readSecrets(folder));
  for (const child of outside) {
    const program = await startProgram(planOf(child, settings, readSecrets(folder)));
    stops.push(() => program.stop());
  }
  const apiPorts = await findFreePorts(2);
  for (const [index, port] of apiPorts.entries()) {
    await add(`API ${index + 1}` as PartName, () => startProgram(apiPlan(settings, postgres, index, port)));
  }
  for (const name of ['worker 1', 'worker 2'] as const) {
    await add(name, () => startProgram(workerPlan(settings, postgres, name)));
  }
  const front = await startFront(settings.ports.api, apiPorts);
  stops.push(() => front.close());
  return {
    urls: urlsOf(settings),
    ownerUrl: postgres.url,
    opsUrl: loginUrl(postgres, 'ops'),
    front,
    async restart(name, how) {
      const part = parts.get(name);
      if (part === undefined) throw new Error(`There is no ${name}.`);
      if (how === 'stop') await part.program.stop();
      else part.program.kill();
      await part.program.exited;
      part.program = await part.start();
    },
  };
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
async function prepareDatabases(postgres: PostgresServer): Promise<void> {
  await makeTemporalDatabases(postgres.adminUrl, temporalLogin);
  await migrateToLatest(postgres.url);
  await ensureLogins(postgres.url, {
    api: password('api'),
    worker: password('worker'),
    ops: password('ops'),
  });
}

function loginUrl(postgres: PostgresServer, role: keyof typeof databaseRoles): string {
  const url = new URL(postgres.url);
  url.username = loginOf(role);
  url.password = password(role);
  return url.toString();
}

function apiPlan(
  settings: StackSettings,
  postgres: PostgresServer,
  index: number,
  port: number,
): ProgramPlan {
  const child: Child = {
    name: `API ${index + 1}`,
    file: 'dist/api/index.js',
    isReady: () => answersOk(`http://127.0.0.1:${port}/readyz`),
    stopLimitMs: 30_000,
  };
  return builtPlan(child, settings, { API_PORT: String(port), DATABASE_URL: loginUrl(postgres, 'api') });
}

function workerPlan(settings: StackSettings, postgres: PostgresServer, name: string): ProgramPlan {
  // Its log continues over a restart: lines of earlier processes do not count.
  const child: Child = {
    name,
    file: 'dist/worker/index.js',
    isReady: (logged) => logged().includes('"msg":"worker ready"'),
    stopLimitMs: 30_000,
  };
  return builtPlan(child, settings, { DATABASE_URL: loginUrl(postgres, 'worker') });
}

/**
 * The plan of a process as in the image: compiled, and without a role to change to, because its login has only its own
 * rights.
 */
function builtPlan(child: Child, settings: StackSettings, env: NodeJS.ProcessEnv): ProgramPlan {
  const plan = planOf(child, settings, readSecrets(settings.dataDir));
  return {
    ...plan,
    args: [child.file],
    // The names that are the local stack's own: in production each process is asked by its address, too.
    env: { ...plan.env, ALLOWED_HOSTS: '', NODE_ENV: 'production', ...env },
  };
}
