import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { findProcess } from '../servers/process-table.js';
import { drop, keep } from '../servers/keeper.js';
import { sourcesOfDashboard } from './sources.js';

export interface DashboardBuild {
  readonly projectDir: string;
  /** With React's development version, which warns of what the other one lets pass: doubled keys, unknown attributes. */
  readonly mode?: 'development';
  /** What the build reads and inherits; default: this process's. */
  readonly env?: NodeJS.ProcessEnv;
  /** Gives up a build that is under way. */
  readonly signal?: AbortSignal | undefined;
}

/** Thrown when the dashboard can't be built; the message carries the last lines of the build. */
export class DashboardBuildError extends Error {
  override readonly name = 'DashboardBuildError';
}

/** Names the sources of a build, in its folder. */
const STAMP = '.built';
const shownLines = 20;
const lockPollMs = 50;

/** The folder of the built dashboard, where the service looks for it; that of another mode stands beside it. */
export function dashboardFolderOf(projectDir: string, mode?: DashboardBuild['mode']): string {
  return join(projectDir, 'dist', mode === undefined ? 'dashboard' : `dashboard-${mode}`);
}

/**
 * Builds the dashboard unless it was built of these very sources already. It is made beside the present one and takes
 * its place when it is whole; of several processes one builds and the others wait.
 * @returns whether it was built now
 * @throws DashboardBuildError
 */
export async function buildDashboardIfChanged(build: DashboardBuild): Promise<'built' | 'unchanged'> {
  const { projectDir, env = process.env, mode } = build;
  const folder = dashboardFolderOf(projectDir, mode);
  const sources = sourcesOfDashboard(projectDir, env);
  if (stampOf(folder) === sources) return 'unchanged';
  const release = await claim(`${folder}.lock`, build.signal);
  try {
    if (stampOf(folder) === sources) return 'unchanged';
    const beside = `${folder}.${process.pid}`;
    try {
      await runVite(build, beside);
      writeFileSync(join(beside, STAMP), sources);
      takePlace(beside, folder);
    } finally {
      rmSync(beside, { recursive: true, force: true });
    }
    return 'built';
  } finally {
    release();
  }
}

/** Two that both broke a dead process's lock may end here at once: either one's build is as good. */
function takePlace(beside: string, folder: string): void {
  const former = `${beside}.former`;
  try {
    if (existsSync(folder)) renameSync(folder, former);
    renameSync(beside, folder);
  } catch (error) {
    if (stampOf(folder) !== stampOf(beside)) throw error;
  } finally {
    rmSync(former, { recursive: true, force: true });
  }
}

function stampOf(folder: string): string | undefined {
  const stamp = join(folder, STAMP);
  return existsSync(stamp) ? readFileSync(stamp, 'utf8') : undefined;
}

/** Waits until no other process builds. The lock of a dead process counts for nothing. */
async function claim(lock: string, signal: AbortSignal | undefined): Promise<() => void> {
  mkdirSync(dirname(lock), { recursive: true });
  for (;;) {
    signal?.throwIfAborted();
    try {
      writeFileSync(lock, `${process.pid} ${findProcess(process.pid)?.stamp ?? ''}`, { flag: 'wx' });
      return () => rmSync(lock, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (isAbandoned(lock)) rmSync(lock, { force: true });
    else await sleep(lockPollMs);
  }
}

function isAbandoned(lock: string): boolean {
  if (!existsSync(lock)) return false;
  const [pid = '', stamp = ''] = readFileSync(lock, 'utf8').split(' ');
  // An empty one is about to be written.
  return pid !== '' && findProcess(Number(pid))?.stamp !== stamp;
}

/** Runs Vite in the dashboard's folder. Its words are shown when it fails, and only then. */
async function runVite(
  { projectDir, mode: told, env = process.env, signal }: DashboardBuild,
  outDir: string,
): Promise<void> {
  const mode = told ?? 'production';
  const args = [viteIn(projectDir), 'build', '--mode', mode, '--outDir', outDir];
  const child = spawn(process.execPath, args, {
    cwd: join(projectDir, 'clients', 'dashboard'),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, NODE_ENV: mode },
    signal,
  });
  if (child.pid !== undefined) keep(child.pid, 'TERM');
  const said: string[] = [];
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => said.push(text));
  }
  const end = await new Promise<Error | number | null>((resolve) => {
    child.once('error', resolve);
    child.once('close', resolve);
  });
  if (child.pid !== undefined) drop(child.pid);
  if (end === 0) return;
  signal?.throwIfAborted();
  throw failureOf(end instanceof Error ? end.message : said.join(''));
}

/** The build's own words, without the places in its program where it found them. */
function failureOf(said: string): DashboardBuildError {
  const lines = stripVTControlCharacters(said)
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^ {4}at /.test(line));
  return new DashboardBuildError(
    ['The dashboard could not be built:', ...lines.slice(-shownLines)].join('\n  | '),
  );
}

/**
 * The file of Vite's command.
 * @throws DashboardBuildError where it is not installed
 */
export function viteIn(projectDir: string): string {
  try {
    const at = createRequire(join(projectDir, 'clients', 'dashboard', 'package.json')).resolve(
      'vite/package.json',
    );
    return join(dirname(at), 'bin', 'vite.js');
  } catch {
    throw new DashboardBuildError('The dashboard could not be built: Vite is not installed. Run "npm ci".');
  }
}
