import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { findOnPath, isExecutable } from '../../lab/servers/temporal-cli-binary.js';
import { placeInCache } from '../../lab/servers/cache.js';
import { goInstall } from '../../lab/servers/go-install.js';
import { answers, startProgram, type Program } from '../../lab/servers/program.js';
import { findFreePorts } from '../../lab/stack/ports.js';

/** The newest version whose description of the API has the pinned SDK's version (reference: payments, Versions). */
const version = 'v0.203.0';
const goModule = `github.com/stripe/stripe-mock@${version}`;
const buildLimitMs = 10 * 60_000;
const downloadLimitMs = 120_000;

export interface MockPlaces {
  readonly searchPath: string;
  /** The folder of built programs, for all projects of this user. */
  readonly cacheDir: string;
}

/** The program, and the description of the API that it carries. */
export interface StripeMock {
  readonly program: string;
  readonly specFile: string;
}

/**
 * Finds stripe-mock in the cache or builds it.
 * @returns undefined when there is no Go on this machine
 * @throws Error when it can't be downloaded or built
 */
export async function findStripeMock(
  places: MockPlaces,
  log: (line: string) => void,
): Promise<StripeMock | undefined> {
  const go = findOnPath('go', places.searchPath);
  if (go === undefined) return undefined;
  const program = join(places.cacheDir, `stripe-mock-${version}`);
  if (!isExecutable(program)) {
    await placeInCache(program, async (folder) => {
      const what = 'building stripe-mock';
      await goInstall({
        go,
        goPackage: goModule,
        folder,
        what,
        log,
        limitMs: buildLimitMs,
      });
      return join(folder, 'stripe-mock');
    });
  }
  return { program, specFile: join(moduleDirOf(go), 'embedded', 'openapi', 'spec3.json') };
}

/** Returns the module's folder in Go's cache, and downloads it when it is missing. */
function moduleDirOf(go: string): string {
  const text = execFileSync(go, ['mod', 'download', '-json', goModule], {
    encoding: 'utf8',
    timeout: downloadLimitMs,
  });
  const { Dir: dir } = JSON.parse(text) as { Dir?: string };
  if (dir === undefined) throw new Error(`Go does not say where ${goModule} is. Run "go clean -modcache".`);
  return dir;
}

/** Starts it on two free ports of this machine. */
export async function startStripeMock(
  program: string,
  logFile: string,
): Promise<{ program: Program; url: string }> {
  const [http, https] = await findFreePorts(2);
  const url = `http://127.0.0.1:${http}`;
  const started = await startProgram({
    name: 'stripe-mock',
    command: program,
    args: [
      '-strict-version-check',
      ...['-http-addr', `127.0.0.1:${http}`],
      // Both ports are given: otherwise it takes its default for the other.
      ...['-https-addr', `127.0.0.1:${https}`],
    ],
    env: {},
    cwd: '/',
    logFile,
    isReady: () => answers(`${url}/`),
    readyLimitMs: 60_000,
    stopSignal: 'SIGTERM',
    stopLimitMs: 5000,
  });
  return { program: started, url };
}
