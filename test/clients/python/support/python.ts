import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { readStackSettings } from '../../../../lab/stack/settings.js';
import { findPythonEnvironment } from '../../../../tools/verify-api/python-package.js';

const run = promisify(execFile);

/** The package's folder in the checkout. */
export const packageFolder = join(import.meta.dirname, '..', '..', '..', '..', 'clients', 'python');

/** What the package is built and checked with; mypy is the last one that knows Python 3.9. */
const tools = ['build==1.3.0', 'hatchling==1.27.0', 'mypy==1.18.2', 'ruff==0.14.4'];
/** What it needs itself. */
const needs = ['httpx==0.28.1', 'httpx-sse==0.4.3', 'typing_extensions==4.15.0'];

/** @returns the Python of an environment with the tools. @throws Error that says what is missing */
export async function pythonWithTools(): Promise<string> {
  const wanted = [...tools, ...needs];
  const name = `python-client-${createHash('sha256').update(wanted.join()).digest('hex').slice(0, 12)}`;
  const python = await findPythonEnvironment(
    name,
    wanted,
    readStackSettings(process.env).cliPlaces,
    () => undefined,
  );
  if (python !== undefined) return python;
  throw new Error(
    'There is no Python from 3.10 with venv on the PATH: the tests of clients/python need one.',
  );
}

/** A wheel and an sdist, built of a copy of the package. */
export interface BuiltPackage {
  readonly wheel: string;
  readonly sdist: string;
}

/** A folder that goes with this process. */
function passingFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), name));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs work once for all test files of a process. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => (done ??= work());
}

/** Builds the package, as a release does. */
export const buildPackage = once(async (): Promise<BuiltPackage> => {
  const folder = passingFolder('gpu-rental-wheel-');
  const copy = join(folder, 'source');
  cpSync(packageFolder, copy, { recursive: true });
  await run(await pythonWithTools(), [
    '-m',
    'build',
    '--no-isolation',
    '--outdir',
    join(folder, 'dist'),
    copy,
  ]);
  const files = readdirSync(join(folder, 'dist')).map((file) => join(folder, 'dist', file));
  const named = (end: string): string => files.find((file) => file.endsWith(end)) ?? '';
  return { wheel: named('.whl'), sdist: named('.tar.gz') };
});

/**
 * Installs the wheel into an empty environment, as anybody would.
 * @returns the environment's Python
 */
export async function installInto(python: string): Promise<string> {
  const { wheel } = await buildPackage();
  const folder = passingFolder('gpu-rental-venv-');
  const program = join(folder, 'bin', 'python');
  await run(python, ['-m', 'venv', folder]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input'];
  await run(program, [...pip, wheel]);
  return program;
}

/** The Python of an environment that holds the wheel and what it needs. */
export const installedPython = once(async () => {
  await pythonWithTools();
  return installInto('python3');
});

/** What is asked of the client. */
export interface PythonAsked {
  readonly operationId: string;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly id: string;
  readonly query: object;
  readonly body: unknown;
  readonly idempotencyKey?: string | undefined;
  /** Of the client. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Whether the client that waits is asked, or the one that blocks. */
  readonly waits: boolean;
}

export interface PythonAnswer {
  readonly received: readonly {
    readonly method: string;
    readonly url: string;
    readonly status: number;
    readonly headers: [string, string][];
    readonly text: string;
  }[];
  readonly value?: unknown;
  readonly refusal?: { readonly status: number; readonly told: unknown; readonly isOwnClass: boolean };
  readonly noAnswer?: string;
  readonly fault?: string;
}

/** The client in a process of its own, which takes one call after the other. */
export class PythonDriver {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting: ((line: string) => void)[] = [];
  #errors = '';

  constructor(python: string) {
    this.#child = spawn(python, [join(import.meta.dirname, 'driver.py')]);
    this.#child.stderr.on('data', (text: Buffer) => (this.#errors += text.toString()));
    createInterface(this.#child.stdout).on('line', (line) => this.#waiting.shift()?.(line));
    this.#child.once('close', () => {
      for (const answer of this.#waiting.splice(0))
        answer(JSON.stringify({ received: [], fault: this.#errors }));
    });
  }

  async ask(asked: PythonAsked): Promise<PythonAnswer> {
    const line = new Promise<string>((resolve) => this.#waiting.push(resolve));
    this.#child.stdin.write(`${JSON.stringify(asked)}\n`);
    return JSON.parse(await line) as PythonAnswer;
  }

  stop(): void {
    this.#child.stdin.end();
  }
}
