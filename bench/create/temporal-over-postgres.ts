import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePostgresFolder } from '../../lab/servers/postgres-home.js';
import { startPostgres } from '../../lab/servers/postgres.js';
import {
  addressOf,
  makeTemporalDatabases,
  migrateTemporal,
  registerNamespace,
  startTemporalOnPostgres,
  temporalPortCount,
} from '../../lab/servers/temporal-on-postgres.js';
import { findTemporalServer, temporalServerVersion } from '../../lab/servers/temporal-server-build.js';
import { findFreePorts } from '../../lab/stack/ports.js';
import { readStackSettings } from '../../lab/stack/settings.js';
import { searchAttributes } from '../../workflows/contracts/search-attributes.js';

export interface BenchTemporal {
  readonly what: string;
  /** host:port of its front end. */
  readonly address: string;
  stop(): Promise<void>;
}

const login = { user: 'temporal', password: 'temporal' } as const;
const namespace = 'default';

/**
 * Starts the Temporal server of docker-compose.yml over a PostgreSQL of its own, which writes each commit to disk. The
 * server is built with Go the first time.
 * @throws Error saying what to install where it can't be built
 */
export async function startTemporalOverPostgres(log: (line: string) => void): Promise<BenchTemporal> {
  const { cliPlaces } = readStackSettings({ ...process.env, TEMPORAL_ADDRESS: '', DATABASE_URL: '' });
  const programs = await findTemporalServer(cliPlaces, log);
  const folder = mkdtempSync(join(tmpdir(), 'gpu-rental-bench-temporal-'));
  const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const one of stops.splice(0).reverse()) await one();
  };
  try {
    return { what: `Temporal ${temporalServerVersion} over PostgreSQL`, address: await start(), stop };
  } catch (error) {
    await stop();
    throw error;
  }

  async function start(): Promise<string> {
    const [postgresPort = 0, ...ports] = await findFreePorts(temporalPortCount + 1);
    const dataDir = choosePostgresFolder(folder);
    const postgres = await startPostgres({
      ...{ dataDir, port: postgresPort, log },
      logFile: join(folder, 'postgres.log'),
    });
    stops.push(() => rmSync(dataDir, { recursive: true, force: true }));
    stops.push(() => postgres.stop());
    await makeTemporalDatabases(postgres.adminUrl, login);
    const options = {
      ...{ programs, ports, folder: join(folder, 'temporal'), logFile: join(folder, 'temporal.log') },
      postgres: { host: '127.0.0.1', port: postgresPort, ...login },
    };
    await migrateTemporal(options);
    const server = await startTemporalOnPostgres(options);
    stops.push(() => server.stop());
    const address = addressOf(options);
    await registerNamespace({ address, namespace }, searchAttributes);
    return address;
  }
}
