import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { placeInCache } from '../../lab/servers/cache.js';
import { withProgress } from '../../lab/servers/progress.js';
import { findOnPath, isExecutable } from '../../lab/servers/temporal-cli-binary.js';

/** What is run of PyPI, with its version. */
export const pythonPackages = {
  schemathesis: '4.32.5',
  'openapi-python-client': '0.29.1',
} as const;
const installLimitMs = 5 * 60_000;

/** Ends with 0 where a virtual environment can be made and Python is new enough for the versions above. */
const CHECK = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';

export interface PythonPlaces {
  readonly searchPath: string;
  /** The folder of environments, for all projects of this user. */
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
 * Finds a package in the cache, or installs it from PyPI into a separate environment there.
 * @returns the environment's Python; undefined without a Python
 * @throws Error when it can't be installed
 */
export async function findPythonPackage(
  name: keyof typeof pythonPackages,
  { searchPath, cacheDir }: PythonPlaces,
  log: (line: string) => void,
): Promise<string | undefined> {
  const wanted = `${name}==${pythonPackages[name]}`;
  return findPythonEnvironment(wanted.replace('==', '-'), [wanted], { searchPath, cacheDir }, log);
}

/**
 * Finds an environment with several packages in the cache, or makes it there.
 * @param name tells it from one with other packages
 * @param wanted the packages with their versions, as pip takes them
 * @returns the environment's Python; undefined without a Python
 * @throws Error when they can't be installed
 */
export async function findPythonEnvironment(
  name: string,
  wanted: readonly string[],
  { searchPath, cacheDir }: PythonPlaces,
  log: (line: string) => void,
): Promise<string | undefined> {
  const python = findPython(searchPath);
  if (python === undefined) return undefined;
  const environment = join(cacheDir, name);
  const program = join(environment, 'bin', 'python');
  if (!isExecutable(program)) await install(wanted, python, environment, log);
  return program;
}

async function install(
  wanted: readonly string[],
  python: string,
  target: string,
  log: (line: string) => void,
): Promise<void> {
  const what = `installing ${wanted.join(', ')}`;
  try {
    await placeInCache(target, async (folder) => {
      await withProgress({ what, log, limitMs: installLimitMs }, async ({ signal }) => {
        const run = promisify(execFile);
        await run(python, ['-m', 'venv', folder], { signal });
        const options = ['--quiet', '--disable-pip-version-check', '--no-input'];
        const pip = ['-m', 'pip', 'install', ...options, ...wanted];
        await run(join(folder, 'bin', 'python'), pip, { signal });
      });
      return folder;
    });
  } catch (error) {
    if (isExecutable(join(target, 'bin', 'python'))) return; // Another run was there first.
    throw new Error(
      `${wanted.join(', ')} could not be installed. See whether pip reaches its package index.`,
      {
        cause: error,
      },
    );
  }
}
