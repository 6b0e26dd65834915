import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { runGpu } from '../../../../clients/cli/src/program.js';
import {
  runProgram,
  type InStream,
  type OutStream,
  type Surroundings,
} from '../../../../clients/cli/src/surroundings.js';

/** What one command line gave. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** As a terminal of this many columns; default: pipes. */
  readonly columns?: number;
  /** What is piped in. */
  readonly input?: string;
  /** As a terminal at which somebody types: a line for each question, by the question. */
  readonly types?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly fetch?: typeof fetch;
  readonly run?: Surroundings['run'];
  readonly now?: () => number;
  readonly platform?: NodeJS.Platform;
  /** For how long a network that fails is waited for, in milliseconds; default: not at all. */
  readonly gapMs?: number;
  /** How often a request is sent again at most; default: never. */
  readonly retries?: number;
  /** After how long an answer counts as late, in milliseconds. */
  readonly lateMs?: number;
  /** Takes what is written to the standard output in place of the test. */
  readonly stdout?: OutStream;
  /** Is told what is written, as it is written, to both outputs. */
  readonly onOutput?: (all: string) => void;
}

/** A person with a home folder of their own, who uses `gpu` at one service: the command runs in this process. */
export class GpuUser {
  readonly home = mkdtempSync(join(tmpdir(), 'gpu-cli-test-'));

  constructor(
    readonly url: string,
    /** The key by which they are signed in; default: they are not. */
    readonly apiKey?: string,
  ) {}

  /** Runs `gpu` with these words. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const { types, columns = types && 80, env } = options;
    const { platform, gapMs, now, signal, run } = { ...usual(), ...options };
    const written = { out: '', err: '', all: '' };
    const { stdin, answer } = types === undefined ? piped(options.input) : typist(types);
    const stream = (name: 'out' | 'err'): Writable =>
      Object.assign(
        new Writable({
          write(chunk: Buffer, _encoding, done) {
            written[name] += chunk.toString();
            written.all += chunk.toString();
            answer(written.all);
            options.onOutput?.(written.all);
            done();
          },
        }),
        columns === undefined ? {} : { isTTY: true, columns },
      );
    const code = await runGpu(args, {
      env: {
        PATH: process.env['PATH'],
        GPU_API_URL: this.url,
        ...(this.apiKey !== undefined && { GPU_API_KEY: this.apiKey }),
        NO_COLOR: '1',
        CI: '1',
        ...env,
      },
      stdin,
      stdout: options.stdout ?? stream('out'),
      stderr: stream('err'),
      home: this.home,
      hostname: 'laptop',
      ...{ platform, gapMs, now, signal, run },
      retries: options.retries ?? 0,
      ...(options.fetch && { fetch: options.fetch }),
      ...(options.lateMs !== undefined && { lateMs: options.lateMs }),
    });
    return { code, out: written.out, err: written.err };
  }

  /** Runs a line without quotes, as typed. */
  type(line: string, options?: RunOptions): Promise<Ran> {
    return this.run(line.split(' '), options);
  }

  /** Runs a line with --json, and returns what it printed. */
  async json<T>(line: string, options?: RunOptions): Promise<T> {
    const { code, out, err } = await this.type(`${line} --json`, options);
    if (code !== 0) throw new Error(`gpu ${line}: ${code}\n${err}`);
    return JSON.parse(out) as T;
  }
}

const usual = () => ({
  ...{ platform: 'linux' as const, gapMs: 0, now: () => Date.now(), run: runProgram },
  signal: new AbortController().signal,
});

/** Where text comes from, and who is told all that was written. */
interface Input {
  readonly stdin: InStream;
  readonly answer: (written: string) => void;
}

function piped(text = ''): Input {
  const stdin = new PassThrough();
  stdin.end(text);
  return { stdin, answer: () => undefined };
}

/** Somebody who types a line when they see its question, once each. */
function typist(lines: Readonly<Record<string, string>>): Input {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const left = new Map(Object.entries(lines));
  return {
    stdin,
    answer(written) {
      for (const [question, line] of left) {
        if (written.includes(question) && left.delete(question)) setImmediate(() => stdin.write(`${line}\r`));
      }
    },
  };
}
