import { rmSync } from 'node:fs';
import type { Program } from '../../../lab/servers/program.js';
import type { PostgresServer } from '../../../lab/servers/postgres.js';
import type { TemporalServer } from '../../../lab/servers/temporal.js';

/** The servers that this run of the tests has started. */
export interface TestServers {
  folder: string | undefined;
  postgres: Promise<PostgresServer> | undefined;
  /** Resolves when the template database is migrated. */
  template: Promise<void> | undefined;
  temporal: Promise<TemporalServer> | undefined;
}

/** The parts of the run's PostgreSQL server that tests use. */
export type TestPostgres = Pick<PostgresServer, 'url' | 'adminUrl'>;

/** The parts of the run's Temporal server that tests use. */
export type TestTemporal = Pick<TemporalServer, 'address'>;

/** The key of the servers on the global object: the root hooks and the tests may load this file as two modules. */
const place = Symbol.for('gpu-rental.test-servers');
const holder = globalThis as { [place]?: TestServers | undefined };
export const servers: TestServers = holder[place] ?? {
  folder: undefined,
  postgres: undefined,
  template: undefined,
  temporal: undefined,
};
holder[place] = servers;

/** Stops the started servers and removes their files. The root hooks call it after the last test. */
export async function stopTestServers(): Promise<void> {
  const started: Promise<Program>[] = [servers.temporal, servers.postgres].filter(
    (server) => server !== undefined,
  );
  servers.temporal = undefined;
  servers.postgres = undefined;
  servers.template = undefined;
  // A server that failed to start has reported so at its request, and left nothing to stop.
  const running = (await Promise.allSettled(started)).flatMap((start) =>
    start.status === 'fulfilled' ? [start.value] : [],
  );
  await Promise.all(running.map((server) => server.stop()));
  if (servers.folder !== undefined) rmSync(servers.folder, { recursive: true, force: true });
  servers.folder = undefined;
}
