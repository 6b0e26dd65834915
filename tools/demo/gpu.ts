import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { formatUsd } from '../../domain/money.js';
import { argsToRun, ourPrograms } from '../../lab/programs/built.js';
import { tell, type Stage } from './stage.js';
import { claim } from './story-error.js';

const program = 'clients/cli/src/main.ts';
const limitMs = 120_000;

/** The command `gpu` as the story's user types it. */
export interface Gpu {
  /**
   * Runs it, and shows the line and what it prints.
   * @returns what it printed to the standard output
   * @throws StoryError when it fails
   */
  run(...args: readonly string[]): Promise<string>;
  /** Removes its settings and the key of this user's machine. */
  close(): void;
}

/** Tells whether this machine has OpenSSH, which `gpu` enters machines with. */
export function hasOpenSsh(): boolean {
  return ['ssh', 'ssh-keygen', 'ssh-keyscan'].every(
    (name) => spawnSync(name, ['-V'], { stdio: 'ignore' }).error === undefined,
  );
}

/**
 * Makes an API key that may spend so much and no more, and lets `gpu` use it. Its settings are kept away from those of
 * whoever runs the demo.
 */
export async function openGpu(stage: Stage, spendCapCents: number): Promise<Gpu> {
  const { key } = (await stage.api.post('/v1/api-keys', {
    ...{ name: 'demo', scopes: ['read', 'rentals', 'billing'], spendCapCents },
  })) as { key: string };
  tell(stage, `${key.slice(0, 9)}… may spend ${formatUsd(spendCapCents)}`);
  const folder = mkdtempSync(join(tmpdir(), 'gpu-rental-demo-'));
  const places = ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME'].map(
    (name) => [name, folder] as const,
  );
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...Object.fromEntries(places),
    GPU_API_URL: stage.urls.api,
    GPU_API_KEY: key,
    NO_COLOR: '1',
  };
  return {
    async run(...args) {
      tell(stage, `$ gpu ${args.join(' ')}`);
      const child = spawn(process.execPath, [...(await argsToRun(program)), ...args], {
        cwd: ourPrograms.projectDir,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        signal: stage.signal,
        timeout: limitMs,
      });
      const printed: string[] = [];
      createInterface(child.stderr).on('line', (line) => tell(stage, line));
      createInterface(child.stdout).on('line', (line) => {
        printed.push(line);
        tell(stage, line);
      });
      const code = await new Promise<number | null>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', resolve);
      });
      claim(code === 0, `gpu ${args[0] ?? ''} ended with ${code ?? 'a signal'}.`);
      return printed.join('\n');
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
