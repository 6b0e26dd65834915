import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeStackData } from '../../lab/stack/data.js';
import { findStackPorts } from '../../lab/stack/ports.js';
import { readStackSettings, type StackSettings } from '../../lab/stack/settings.js';

/** Ports and a data folder of its own, on which `npm run demo` plays. */
export class DemoPlace {
  readonly settings: StackSettings;
  readonly #env: NodeJS.ProcessEnv;
  readonly #children: ChildProcess[] = [];

  private constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
    this.settings = readStackSettings(env);
  }

  static async find(changes: NodeJS.ProcessEnv = {}): Promise<DemoPlace> {
    const dataDir = mkdtempSync(join(tmpdir(), 'gpu-rental-demo-test-'));
    // When root runs the tests, the postgres user needs access through this folder to its own below.
    chmodSync(dataDir, 0o711);
    const own = { LAB_DATA_DIR: dataDir, DATABASE_URL: '', TEMPORAL_ADDRESS: '', TEMPORAL_NAMESPACE: '' };
    return new DemoPlace({ ...process.env, ...(await findStackPorts()), ...own, ...changes });
  }

  /** Runs the program of `npm run demo` to its end. @returns how it ended, and all that it wrote */
  async play(
    args: readonly string[] = [],
    changes: NodeJS.ProcessEnv = {},
  ): Promise<{ readonly exitCode: number | null; readonly output: string }> {
    const child = spawn(process.execPath, ['lab/run.mjs', 'tools/demo/main.ts', ...args], {
      cwd: this.settings.projectDir,
      env: { ...this.#env, ...changes },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.push(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    }
    await once(child, 'close');
    return { exitCode: child.exitCode, output };
  }

  /** Ends what a failed test left running. */
  async end(): Promise<void> {
    for (const child of this.#children.filter(
      ({ exitCode, signalCode }) => (exitCode ?? signalCode) === null,
    )) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  }

  /** Removes its data, once no stack runs on it. */
  remove(): void {
    removeStackData(this.settings);
    rmSync(this.settings.dataDir, { recursive: true, force: true });
  }
}
