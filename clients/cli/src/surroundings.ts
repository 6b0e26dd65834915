import { spawn, type StdioOptions } from 'node:child_process';
import { homedir, hostname } from 'node:os';
import { fstatSync, writeFileSync } from 'node:fs';
import { Writable, type Readable } from 'node:stream';

/** Where text is written: a terminal, a pipe or a file. */
export type OutStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };
/** Where answers come from. */
export type InStream = Readable & { readonly isTTY?: boolean; setRawMode?(on: boolean): unknown };

/** How a program ended that was run. */
export interface Ended {
  /** 128 and the signal's number, as a shell says it, when a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** With the terminal as its own; otherwise what it writes is returned. */
  readonly inherit?: boolean;
  /** With inherit: takes what it writes to its standard error, which then goes nowhere else. */
  readonly onStderr?: (text: string) => void;
  readonly input?: string;
  readonly limitMs?: number;
  /** Ends it by SIGTERM. With inherit it is waited for; otherwise `run` throws. */
  readonly signal?: AbortSignal;
}

/** Everything outside of the command: tests bring their own. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: InStream;
  readonly stdout: OutStream;
  readonly stderr: OutStream;
  /** Empty: there is none. */
  readonly home: string;
  readonly hostname: string;
  readonly platform: NodeJS.Platform;
  now(): number;
  /** Aborted by the first ctrl-C. */
  readonly signal: AbortSignal;
  /** Requests over HTTP; default: Node's own, through a proxy where the environment names one. */
  readonly fetch?: typeof fetch;
  /** How often a request is sent again at most; default: the client's. */
  readonly retries?: number;
  /** After how long it is said that an answer is late, in milliseconds; default: 3 s. */
  readonly lateMs?: number;
  /** For how long the service may be away while something is waited for, in milliseconds; default: 5 minutes. */
  readonly gapMs?: number;
  /** Runs another program. @throws Error with code ENOENT when there is no such program */
  run(program: string, args: readonly string[], options?: RunOptions): Promise<Ended>;
}

/** The surroundings of a real process. */
export function realSurroundings(signal: AbortSignal): Surroundings {
  return {
    env: process.env,
    stdin: process.stdin,
    stdout: wholeOutput(process.stdout),
    stderr: process.stderr,
    home: homeFolder(),
    hostname: hostname(),
    platform: process.platform,
    now: () => Date.now(),
    signal,
    run: runProgram,
  };
}

/**
 * The standard output. Into a file Node writes each piece by one write, of which a disk that is nearly full takes a part
 * without an error: what is cut would be taken for the whole.
 */
function wholeOutput(stdout: OutStream & { readonly fd: number }): OutStream {
  if (!isFile(stdout.fd)) return stdout;
  const whole = new Writable({
    decodeStrings: true,
    write(piece: Buffer, _encoding, done) {
      try {
        writeFileSync(stdout.fd, piece);
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });
  // Whoever looks for it is told by a listener of their own.
  return whole.on('error', () => undefined);
}

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false;
  }
}

/** Empty where there is none: some users of containers have no entry in the list of users. */
function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return '';
  }
}

const signalNumbers: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 };

/** Runs a program and waits until it has ended. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Ended> {
  const { inherit = false, onStderr, input, limitMs, signal } = options;
  const outer = inherit ? 'inherit' : 'pipe';
  const stdio: StdioOptions = [
    inherit ? 'inherit' : input === undefined ? 'ignore' : 'pipe',
    outer,
    onStderr === undefined ? outer : 'pipe',
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio,
      ...(limitMs !== undefined && { timeout: limitMs }),
      ...(signal && { signal }),
    });
    const texts = { stdout: '', stderr: '' };
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (texts.stdout += chunk));
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      texts.stderr += chunk;
      onStderr?.(chunk);
    });
    // At a terminal it says itself how it ended, once it has.
    child.on('error', (error) => {
      if (!inherit || error.name !== 'AbortError') reject(error);
    });
    child.once('close', (code, by) =>
      resolve({ code: code ?? 128 + (signalNumbers[by ?? ''] ?? 15), ...texts }),
    );
    // Who reads no input closes it early: nothing is lost.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
