import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { placeInCache } from '../../lab/servers/cache.js';
import { findOnPath, isExecutable } from '../../lab/servers/temporal-cli-binary.js';

const limitMs = 120_000;

export interface PromtoolPlaces {
  readonly searchPath: string;
  /** The folder of fetched programs, for all projects of this user. */
  readonly cacheDir: string;
}

/**
 * Finds promtool on the PATH or in the cache, or extracts it from Debian's package `prometheus` without installing
 * that.
 * @returns undefined when it is not available; the reason has been logged
 */
export async function findPromtool(
  places: PromtoolPlaces,
  log: (line: string) => void,
): Promise<string | undefined> {
  const installed = findOnPath('promtool', places.searchPath);
  if (installed !== undefined) return installed;
  const cached = join(places.cacheDir, 'promtool');
  if (isExecutable(cached)) return cached;
  if (findOnPath('apt-get', places.searchPath) === undefined) {
    log('there is no promtool on the PATH, and no apt-get to fetch its package with');
    return undefined;
  }
  try {
    log('fetching the package "prometheus" for its promtool, once for all projects of this user (19 MB)');
    await placeInCache(cached, fetchPromtool);
    return cached;
  } catch (error) {
    log(
      `promtool could not be fetched: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`,
    );
    return undefined;
  }
}

async function fetchPromtool(folder: string): Promise<string> {
  const run = (command: string, ...args: string[]): Promise<unknown> =>
    promisify(execFile)(command, args, { cwd: folder, timeout: limitMs });
  await run('apt-get', 'download', 'prometheus');
  const archive = readdirSync(folder).find((name) => name.endsWith('.deb'));
  if (archive === undefined) throw new Error('apt-get download brought no package');
  await run('dpkg-deb', '--extract', archive, 'package');
  const program = join(folder, 'package', 'usr', 'bin', 'promtool');
  await run(program, '--version');
  return program;
}
