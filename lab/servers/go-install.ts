import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { drop, keep } from './keeper.js';
import { withProgress } from './progress.js';

export interface GoInstall {
  /** Path of the go command. */
  readonly go: string;
  /** The package with its version: `example.com/cmd@v1.2.3`. */
  readonly goPackage: string;
  /** The folder of the program. */
  readonly folder: string;
  /** The task in words, for the progress. */
  readonly what: string;
  readonly log: (line: string) => void;
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Builds a program from source with Go. @throws Error with Go's last lines when it does not build in time */
export async function goInstall(order: GoInstall): Promise<void> {
  const { go, goPackage, folder, what, log, limitMs, signal } = order;
  await withProgress({ what, log, limitMs, signal }, async (progress) => {
    // Through env(1), so that Go's own settings (proxy, caches) come from the environment unchanged.
    const child = spawn('/usr/bin/env', [`GOBIN=${folder}`, 'GOFLAGS=', go, 'install', goPackage], {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    // Go starts compilers of its own: the keeper, and a stop, end all of them with it.
    const pid = child.pid;
    if (pid !== undefined) keep(pid, 'TERM');
    const lines: string[] = [];
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      progress.note(line);
    });
    progress.signal.addEventListener('abort', () => {
      if (pid !== undefined && child.exitCode === null) process.kill(-pid, 'SIGTERM');
    });
    try {
      await endOf(child, `go install ${goPackage}`, () => lines.slice(-5).join('\n    '));
    } finally {
      if (pid !== undefined) drop(pid);
    }
  });
}

/** Waits for a child to end. @throws Error with its last lines unless it ends with code 0 */
export async function endOf(
  child: ChildProcess,
  name: string,
  lastLines: () => string = () => '',
): Promise<void> {
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`"${name}" ended with ${code ?? 'a signal'}: ${lastLines()}`.trim());
}
