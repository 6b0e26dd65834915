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

/**
 * Finds the Temporal server and its SQL tool in the cache, or builds them with Go: some minutes, once for all
 * projects of this user.
 * @throws Error saying what to install when they can't be built
 */
export async function findTemporalServer(
  places: Pick<TemporalCliPlaces, 'searchPath' | 'cacheDir'>,
  log: (line: string) => void,
): Promise<TemporalServerPrograms> {
  const target = (name: keyof typeof packages): string =>
    join(places.cacheDir, `temporal-${name}-${temporalServerVersion}`);
  for (const name of Object.keys(packages) as (keyof typeof packages)[]) {
    if (!isExecutable(target(name))) await build(name, target(name), places, log);
  }
  return { server: target('server'), sqlTool: target('sql') };
}

async function build(
  name: keyof typeof packages,
  target: string,
  { searchPath }: Pick<TemporalCliPlaces, 'searchPath'>,
  log: (line: string) => void,
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
    });
    return join(folder, name);
  });
}
