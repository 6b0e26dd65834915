import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { placeInCache } from '../../lab/servers/cache.js';
import { goInstall } from '../../lab/servers/go-install.js';
import { answers, startProgram, type Program } from '../../lab/servers/program.js';
import { findOnPath, isExecutable } from '../../lab/servers/temporal-cli-binary.js';
import { findFreePorts } from '../../lab/stack/ports.js';

const version = 'v0.15.2';
const goPackage = `github.com/blnkfinance/blnk/cmd@${version}`;
const BUILD_LIMIT_MS = 20 * 60_000;
const MIGRATE_LIMIT_MS = 120_000;

/** Thrown when something that the peer needs can't be had on this machine. */
export class NotToBeHad extends Error {
  override readonly name = 'NotToBeHad';
}

export interface BlnkPlaces {
  readonly searchPath: string;
  /** The folder of built programs, for all projects of this user. */
  readonly cacheDir: string;
}

/** The programs that the peer is made of. */
export interface BlnkPrograms {
  readonly blnk: string;
  readonly redis: string;
}

/**
 * Finds blnk in the cache or builds it from its Go module, once, and a Redis on the path. BENCH_BLNK names a blnk that
 * was built elsewhere.
 * @throws NotToBeHad with the reason
 */
export async function findBlnk(places: BlnkPlaces, log: (line: string) => void): Promise<BlnkPrograms> {
  const redis = ['redis-server', 'valkey-server']
    .map((name) => findOnPath(name, places.searchPath))
    .find((found) => found !== undefined);
  if (redis === undefined) throw new NotToBeHad('there is no redis-server and no valkey-server on the PATH');
  const given = process.env['BENCH_BLNK'];
  if (given !== undefined) return { blnk: given, redis };
  const blnk = join(places.cacheDir, `blnk-${version}`);
  if (!isExecutable(blnk)) await build(blnk, places.searchPath, log);
  return { blnk, redis };
}

async function build(target: string, searchPath: string, log: (line: string) => void): Promise<void> {
  const go = findOnPath('go', searchPath);
  if (go === undefined) throw new NotToBeHad('there is no "go" on the PATH to build blnk with');
  try {
    await placeInCache(target, async (folder) => {
      await goInstall({ go, goPackage, folder, what: 'building blnk', log, limitMs: BUILD_LIMIT_MS });
      return join(folder, 'cmd');
    });
  } catch (error) {
    log(error instanceof Error ? error.message : String(error));
    throw new NotToBeHad(`${goPackage} could not be downloaded or built`);
  }
}

export interface Blnk {
  readonly url: string;
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/**
 * Starts Redis and blnk's server on free ports, with its own database on the given server. Nothing leaves the machine:
 * telemetry is off, and no search or webhook is set. Its workers do not run, because each transaction skips the queue.
 * @param databaseUrl of an empty database
 */
export async function startBlnk(programs: BlnkPrograms, databaseUrl: string, folder: string): Promise<Blnk> {
  const [redisPort = 0, port = 0] = await findFreePorts(2);
  const redis = await startRedis(programs.redis, redisPort, folder);
  // The names of blnk's own variables (config/config.go at this version). Everything else is at its default.
  const env = {
    PATH: process.env['PATH'],
    BLNK_DATA_SOURCE_DNS: `${databaseUrl}?sslmode=disable`,
    BLNK_REDIS_DNS: `127.0.0.1:${redisPort}`,
    BLNK_SERVER_PORT: String(port),
    BLNK_ENABLE_TELEMETRY: 'false',
    BLNK_ENABLE_OBSERVABILITY: 'false',
  };
  try {
    writeFileSync(join(folder, 'blnk.json'), '{}');
    const options = { env, cwd: folder, timeout: MIGRATE_LIMIT_MS };
    execFileSync(programs.blnk, ['migrate', 'up'], options);
    const url = `http://127.0.0.1:${port}`;
    const server = await startProgram({
      name: 'blnk',
      command: programs.blnk,
      args: ['start'],
      env,
      cwd: folder,
      logFile: join(folder, 'blnk.log'),
      isReady: () => answers(`${url}/`),
      readyLimitMs: 60_000,
      stopSignal: 'SIGTERM',
      stopLimitMs: 10_000,
    });
    return {
      url,
      pids: [server.pid, redis.pid],
      stop: async () => {
        await server.stop();
        await redis.stop();
      },
    };
  } catch (error) {
    await redis.stop();
    throw error;
  }
}

function startRedis(command: string, port: number, folder: string): Promise<Program> {
  return startProgram({
    name: 'Redis',
    command,
    args: [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      folder,
    ],
    env: {},
    cwd: folder,
    logFile: join(folder, 'redis.log'),
    isReady: (logged) => /ready to accept connections/i.test(logged()),
    readyLimitMs: 30_000,
    stopSignal: 'SIGTERM',
    stopLimitMs: 5_000,
  });
}
