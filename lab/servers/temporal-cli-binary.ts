import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { platform } from 'node:process';

/** The places where the Temporal CLI may be; the environment decides them (lab/stack/settings.ts). */
export interface TemporalCliPlaces {
  /** TEMPORAL_CLI_PATH; undefined tries the other places. */
  readonly explicit: string | undefined;
  /** The PATH to search. */
  readonly searchPath: string;
  /** The folder of a downloaded or built CLI, for all projects of this user. */
  readonly cacheDir: string;
}

export interface FindCliOptions {
  readonly places: TemporalCliPlaces;
  readonly log: (line: string) => void;
  /** False takes only a CLI that exists already, where nobody waits minutes for a build. Default: true. */
  readonly mayFetch?: boolean;
  /** Gives up a download or a build that is under way. */
  readonly signal?: AbortSignal | undefined;
}

export const cliName = platform === 'win32' ? 'temporal.exe' : 'temporal';

/** @returns the CLI's own version text, or undefined when it does not run */
export function versionOf(cli: string): string | undefined {
  const run = spawnSync(cli, ['--version'], { encoding: 'utf8', timeout: 30_000 });
  return run.status === 0 && run.stdout.startsWith('temporal') ? run.stdout.trim() : undefined;
}

/** @returns the first program of this name on a search path */
export function findOnPath(name: string, searchPath: string): string | undefined {
  const file = platform === 'win32' ? `${name}.exe` : name;
  return searchPath
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => resolve(folder, file))
    .find(isExecutable);
}

/** @returns true for a file that this user may run */
export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
