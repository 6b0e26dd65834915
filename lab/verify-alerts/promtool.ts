import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findOnPath, isExecutable } from '../servers/temporal-cli-binary.js';

const limitMs = 120_000;

export interface PromtoolPlaces {
  readonly searchPath: string;
  /** Where programs that were fetched are kept, for all projects of this user. */
  readonly cacheDir: string;
}

/**
 * Finds promtool on the PATH or in the cache, or takes it out of Debian's package `prometheus` without installing that.
 * @returns undefined when there is none and none can be had; why has been logged
 */
export function findPromtool(places: PromtoolPlaces, log: (line: string) => void): string | undefined {
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
    fetchInto(cached, places.cacheDir);
    return cached;
  } catch (error) {
    log(
      `promtool could not be fetched: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`,
    );
    return undefined;
  }
}

/** In a folder of its own, then renamed: a fetch cut short leaves no broken program. */
function fetchInto(target: string, cacheDir: string): void {
  mkdirSync(cacheDir, { recursive: true });
  const folder = mkdtempSync(join(cacheDir, '.fetching-'));
  const run = (command: string, args: string[]): void =>
    void execFileSync(command, args, { cwd: folder, timeout: limitMs, stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    run('apt-get', ['download', 'prometheus']);
    const archive = readdirSync(folder).find((name) => name.endsWith('.deb'));
    if (archive === undefined) throw new Error('apt-get download brought no package');
    run('dpkg-deb', ['--extract', archive, 'package']);
    const program = join(folder, 'package', 'usr', 'bin', 'promtool');
    run(program, ['--version']);
    renameSync(program, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
