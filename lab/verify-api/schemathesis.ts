import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withProgress } from '../servers/progress.js';
import { findOnPath, isExecutable } from '../servers/temporal-cli-binary.js';

const version = '4.32.5';
const installLimitMs = 5 * 60_000;

/** Ends with 0 where a virtual environment can be made, and is new enough for the version above. */
const CHECK = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';

export interface PythonPlaces {
  readonly searchPath: string;
  /** Where environments are kept, for all projects of this user. */
  readonly cacheDir: string;
}

/** @returns a Python from 3.10 with venv; undefined when this machine has none */
export function findPython(searchPath: string): string | undefined {
  const python = findOnPath('python3', searchPath);
  if (python === undefined) return undefined;
  return spawnSync(python, ['-c', CHECK], { stdio: 'ignore', timeout: 30_000 }).status === 0
    ? python
    : undefined;
}

/**
 * Finds schemathesis in the cache, or installs it from PyPI into an environment of its own there.
 * @returns the environment's Python, which runs it as the module `schemathesis.cli`; undefined without a Python
 * @throws Error when it can't be installed
 */
export async function findSchemathesis(
  { searchPath, cacheDir }: PythonPlaces,
  log: (line: string) => void,
): Promise<string | undefined> {
  const python = findPython(searchPath);
  if (python === undefined) return undefined;
  const environment = join(cacheDir, `schemathesis-${version}`);
  const program = join(environment, 'bin', 'python');
  if (!isExecutable(program)) await install(python, environment, cacheDir, log);
  return program;
}

/** In a folder of its own, then renamed: an installation cut short leaves no broken environment. */
async function install(
  python: string,
  target: string,
  cacheDir: string,
  log: (line: string) => void,
): Promise<void> {
  mkdirSync(cacheDir, { recursive: true });
  const folder = mkdtempSync(join(cacheDir, '.fetching-'));
  const what = `installing schemathesis ${version}`;
  try {
    await withProgress({ what, log, limitMs: installLimitMs }, async ({ signal }) => {
      const run = promisify(execFile);
      await run(python, ['-m', 'venv', folder], { signal });
      const options = ['--quiet', '--disable-pip-version-check', '--no-input'];
      const pip = ['-m', 'pip', 'install', ...options, `schemathesis==${version}`];
      await run(join(folder, 'bin', 'python'), pip, { signal });
    });
    renameSync(folder, target);
  } catch (error) {
    if (isExecutable(join(target, 'bin', 'python'))) return; // Another run was there first.
    throw new Error(`schemathesis could not be installed. See whether pip reaches its package index.`, {
      cause: error,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
