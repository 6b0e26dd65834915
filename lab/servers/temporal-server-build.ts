import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { placeInCache } from './cache.js';
import { goInstall } from './go-install.js';
import { findOnPath, isExecutable, type TemporalCliPlaces } from './temporal-cli-binary.js';

/** The version of the server in docker-compose.yml's image. */
export const temporalServerVersion = 'v1.29.1';

/** The two programs of the image that we use. */
export interface TemporalServerPrograms {
  readonly server: string;
  /** Makes and updates the schema of its databases; the program contains it. */
  readonly sqlTool: string;
}

const packages = { server: 'cmd/server', sql: 'cmd/tools/sql' } as const;
const buildLimitMs = 30 * 60_000;

/** Their names in Temporal's own releases, for a search on the PATH. */
const released = { server: 'temporal-server', sql: 'temporal-sql-tool' } as const;

/**
 * Finds the Temporal server and its SQL tool, of this very version: on the PATH, in the cache, or by building them with
 * Go, which takes some minutes once for all projects of this user.
 * @param signal gives up a build that is under way
 * @throws Error saying what to install when they can't be built
 */
export async function findTemporalServer(
  places: Pick<TemporalCliPlaces, 'searchPath' | 'cacheDir'>,
  log: (line: string) => void,
  signal?: AbortSignal,
): Promise<TemporalServerPrograms> {
  const onPath = findReleased(places.searchPath);
  if (onPath !== undefined) return onPath;
  const target = (name: keyof typeof packages): string =>
    join(places.cacheDir, `temporal-${name}-${temporalServerVersion}`);
  for (const name of Object.keys(packages) as (keyof typeof packages)[]) {
    if (!isExecutable(target(name))) await build(name, target(name), places, { log, signal });
  }
  return { server: target('server'), sqlTool: target('sql') };
}

async function build(
  name: keyof typeof packages,
  target: string,
  { searchPath }: Pick<TemporalCliPlaces, 'searchPath'>,
  { log, signal }: { readonly log: (line: string) => void; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const go = findOnPath('go', searchPath);
  if (go === undefined) {
    throw new Error(
      'The Temporal server is built from source: install Go 1.24 or newer (https://go.dev/dl) and run this again.',
    );
  }
  const goPackage = `go.temporal.io/server/${packages[name]}@${temporalServerVersion}`;
  const what = `building ${goPackage}`;
  log(`${what}: some minutes, once for all projects of this user`);
  await placeInCache(target, async (folder) => {
    await goInstall({
      go,
      goPackage,
      folder,
      what,
      log,
      limitMs: buildLimitMs,
      signal,
    });
    return join(folder, name);
  });
}

/** Finds both programs on a search path. Another version would be another server than that of docker-compose.yml. */
function findReleased(searchPath: string): TemporalServerPrograms | undefined {
  const server = findOnPath(released.server, searchPath);
  const sqlTool = findOnPath(released.sql, searchPath);
  if (server === undefined || sqlTool === undefined) return undefined;
  const isOurs = [server, sqlTool].every((program) => {
    const told = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 30_000 });
    return told.status === 0 && told.stdout.includes(temporalServerVersion.slice(1));
  });
  return isOurs ? { server, sqlTool } : undefined;
}
