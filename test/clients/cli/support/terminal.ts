import { spawn, type ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { argsToTest } from '../../../support/programs.js';
import { until } from '../../../support/until.js';
import { TerminalScreen } from './screen.js';

const projectDir = join(dirname(fileURLToPath(import.meta.url)), '../../../..');

/** The command as it is started from a checkout. */
export const gpuFile = join(projectDir, 'clients/cli/bin/gpu.mjs');

/** The arguments by which Node runs the command from its build, in a third of the time that its sources take. */
export const gpuArgs = (): Promise<string[]> => argsToTest('clients/cli/src/main.ts');

/** The same as the beginning of a line of shell. */
export const gpuLine = async (): Promise<string> => [process.execPath, ...(await gpuArgs())].join(' ');

export interface TerminalOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

/**
 * A program at a real pseudo-terminal, which `script` makes. Wait for a text before each key: what is typed before
 * somebody reads may be lost.
 */
export class Terminal {
  readonly #child: ChildProcess;
  readonly #screen: TerminalScreen;
  #all = '';
  #code: number | undefined;

  /** @param line a line of shell */
  constructor(line: string, { env, columns = 100, rows = 40 }: TerminalOptions) {
    this.#screen = new TerminalScreen(columns);
    this.#child = spawn('script', ['-qefc', `stty cols ${columns} rows ${rows}; exec ${line}`, '/dev/null'], {
      env: { PATH: process.env['PATH'], TERM: 'xterm-256color', LANG: 'C.UTF-8', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        this.#all += chunk;
        this.#screen.write(chunk);
      });
    }
    this.#child.once('close', (code) => (this.#code = code ?? -1));
  }

  /** What the terminal shows now. */
  get shown(): string {
    return this.#screen.text;
  }

  /** All that was written, with its escape sequences. */
  get written(): string {
    return this.#all;
  }

  /** Waits until the screen shows this. */
  async sees(text: string | RegExp): Promise<RegExpExecArray | undefined> {
    const found = await until(`the terminal shows ${String(text)}; it shows:\n${this.shown}`, () => {
      if (typeof text === 'string') return this.shown.includes(text) ? { match: undefined } : undefined;
      const match = text.exec(this.shown);
      if (match === null && this.#code !== undefined)
        throw new Error(`it ended with ${this.#code}:\n${this.shown}`);
      return match === null ? undefined : { match };
    }).catch((error: unknown) => {
      throw new Error(
        `${error instanceof Error ? error.message : String(error)}\n\nIt shows:\n${this.shown}`,
      );
    });
    return found.match;
  }

  /** Presses keys. */
  press(keys: string): void {
    this.#child.stdin!.write(keys);
  }

  /** Types a line. */
  enter(text: string): void {
    this.press(`${text}\r`);
  }

  /** Waits until the program has ended. @returns its exit code */
  async ended(): Promise<number> {
    return (
      await until('the program ends', () => (this.#code === undefined ? undefined : { code: this.#code }))
    ).code;
  }

  /** Ends it, should it still run. */
  kill(): void {
    if (this.#code === undefined) this.#child.kill('SIGKILL');
  }
}

export const keys = { ctrlC: '\u0003', down: '\u001b[B', enter: '\r' } as const;
