import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { msToTs } from '@temporalio/common/lib/time.js';
import { Connection } from '@temporalio/client';
import pg from 'pg';
import { stringify } from 'yaml';
import { connectionTo, type TemporalPlace } from '../../adapters/temporal/place.js';
import { shownBy, type Authority, type Identity } from './certificates.js';
import { startProgram, type Program } from './program.js';
import { findTemporalFault, registerSearchAttributes } from './temporal.js';
import type { TemporalServerPrograms } from './temporal-server-build.js';

export interface TemporalOnPostgres {
  readonly programs: TemporalServerPrograms;
  /** The login of a PostgreSQL user who owns both databases. */
  readonly postgres: {
    readonly host: string;
    readonly port: number;
    readonly user: string;
    readonly password: string;
  };
  /** Two for each of its four services; the first is the front end's, where clients connect. */
  readonly ports: readonly number[];
  /** The folder of its configuration. */
  readonly folder: string;
  readonly logFile: string;
  /** Its front end takes the certificates of this authority alone; undefined: nothing is encrypted. */
  readonly tls?: { readonly authority: Authority; readonly identity: Identity } | undefined;
}

const temporalDatabases = { main: 'temporal', visibility: 'temporal_visibility' } as const;
export const temporalPortCount = 8;
/** The name in its certificate. */
export const serverNameOfTemporal = 'temporal';

const services = ['frontend', 'history', 'matching', 'worker'] as const;
const run = promisify(execFile);

/** Makes a user for the server, and the two databases that it owns, as Temporal's image does. @param adminUrl a superuser's */
export async function makeTemporalDatabases(
  adminUrl: string,
  { user, password }: Pick<TemporalOnPostgres['postgres'], 'user' | 'password'>,
): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  try {
    await admin.query(`create role ${user} login password '${password}'`);
    for (const name of Object.values(temporalDatabases)) {
      await admin.query(`create database ${name} owner ${user}`);
    }
  } finally {
    await admin.end();
  }
}

/** Brings both databases to the schema that this server needs; existing objects stay. */
export async function migrateTemporal({ programs, postgres }: TemporalOnPostgres): Promise<void> {
  const schemas = { main: 'temporal', visibility: 'visibility' } as const;
  for (const [key, database] of Object.entries(temporalDatabases) as [keyof typeof schemas, string][]) {
    const common = [
      ...['--plugin', 'postgres12', '--ep', postgres.host, '-p', String(postgres.port)],
      ...['-u', postgres.user, '--pw', postgres.password, '--db', database],
    ];
    await run(programs.sqlTool, [...common, 'setup-schema', '-v', '0.0']);
    await run(programs.sqlTool, [
      ...common,
      'update-schema',
      '--schema-name',
      `postgresql/v12/${schemas[key]}`,
    ]);
  }
}

/** Starts the server and waits until its front end answers. @throws ProgramError with its last lines */
export async function startTemporalOnPostgres(options: TemporalOnPostgres): Promise<Program> {
  mkdirSync(options.folder, { recursive: true });
  writeFileSync(join(options.folder, 'prod-like.yaml'), stringify(configOf(options)));
  return startProgram({
    name: 'Temporal',
    command: options.programs.server,
    args: ['--root', options.folder, '--config', '.', '--env', 'prod-like', '--allow-no-auth', 'start'],
    env: { PATH: '/usr/bin:/bin', TZ: 'UTC' },
    cwd: options.folder,
    logFile: options.logFile,
    isReady: () => answersAt(placeOf(options)),
    readyLimitMs: 120_000,
    stopSignal: 'SIGTERM',
    stopLimitMs: 30_000,
  });
}

/** Its front end, as it is entered by its own certificate. */
export function placeOf(
  { ports, tls }: Pick<TemporalOnPostgres, 'ports' | 'tls'>,
  namespace = 'default',
): TemporalPlace {
  const address = addressOf({ ports });
  return { address, namespace, ...(tls && { tls: shownBy(tls.authority, tls.identity) }) };
}

/** host:port of its front end. */
export function addressOf({ ports }: Pick<TemporalOnPostgres, 'ports'>): string {
  return `127.0.0.1:${ports[0] ?? 0}`;
}

/**
 * Makes the namespace with its search attributes, and waits until the whole server knows them: the front end answers
 * before it takes changes.
 */
export async function registerNamespace(
  place: TemporalPlace,
  attributes: Parameters<typeof registerSearchAttributes>[1],
): Promise<void> {
  const { namespace } = place;
  const connection = await Connection.connect(connectionTo(place));
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
  } finally {
    await connection.close();
  }
  const deadline = Date.now() + 60_000;
  for (;;) {
    const fault = await findTemporalFault(place);
    if (fault === undefined) break;
    if (Date.now() > deadline) throw new Error(`The namespace ${namespace} is not usable: ${fault}`);
    await sleep(500);
  }
  for (;;) {
    try {
      await registerSearchAttributes(place, attributes);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(500);
    }
  }
}

async function answersAt(place: TemporalPlace): Promise<boolean> {
  try {
    const connection = await Connection.connect({ ...connectionTo(place), connectTimeout: 1_000 });
    try {
      await connection.withDeadline(Date.now() + 2_000, () =>
        connection.workflowService.listNamespaces({ pageSize: 1 }),
      );
      return true;
    } finally {
      await connection.close();
    }
  } catch {
    return false;
  }
}

/** What the front end shows and asks for, and what the server's own workflows show it. */
function tlsOf({ authority, identity }: NonNullable<TemporalOnPostgres['tls']>): unknown {
  const own = { certFile: identity.certPath, keyFile: identity.keyPath };
  const client = { serverName: serverNameOfTemporal, rootCaFiles: [authority.certPath] };
  return {
    frontend: {
      server: { ...own, requireClientAuth: true, clientCaFiles: [authority.certPath] },
      client,
    },
    systemWorker: { ...own, client },
  };
}

/** The server's own format (its config/development-postgres12.yaml). */
function configOf({ postgres, ports, tls }: TemporalOnPostgres): unknown {
  const port = (index: number): number => ports[index] ?? 0;
  const sql = (databaseName: string, maxConns: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: `${postgres.host}:${postgres.port}`,
      connectProtocol: 'tcp',
      user: postgres.user,
      password: postgres.password,
      maxConns,
      maxIdleConns: maxConns,
      maxConnLifetime: '1h',
    },
  });
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'main',
      visibilityStore: 'visibility',
      numHistoryShards: 4,
      datastores: { main: sql(temporalDatabases.main, 20), visibility: sql(temporalDatabases.visibility, 5) },
    },
    global: {
      membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' },
      ...(tls && { tls: tlsOf(tls) }),
    },
    services: Object.fromEntries(
      services.map((name, index) => [
        name,
        {
          rpc: {
            grpcPort: port(2 * index),
            membershipPort: port(2 * index + 1),
            bindOnLocalHost: true,
          },
        },
      ]),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${port(0)}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
  };
}
