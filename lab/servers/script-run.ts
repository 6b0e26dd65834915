import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ScriptRun {
  /** The command with its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly env: NodeJS.ProcessEnv;
  /** The time after which it is ended, in seconds. */
  readonly limitSeconds: number;
  /** Takes what it writes to its output. */
  readonly onOutput: (text: string) => void;
  /** Takes what it writes to its error output. */
  readonly onError: (text: string) => void;
  /** Gives it up. */
  readonly signal: AbortSignal;
}

/** How a run ended: its exit code, or why it has none of its own. */
export type Ended = { readonly code: number } | { readonly why: string };

/** The exit code of a run that needs what can't be had here; its last line of errors says what. */
export const LEFT_OUT = 75;

const STOP_LIMIT_MS = 15_000;

/** Runs a command in a process group of its own, so that it ends with all processes that it started. */
export async function runInGroup(run: ScriptRun): Promise<Ended> {
  const [program, ...args] = run.command;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: run.env, detached: true });
  child.stdout.setEncoding('utf8').on('data', run.onOutput);
  child.stderr.setEncoding('utf8').on('data', run.onError);
  const exited = new Promise<Ended>((resolve) => {
    child.once('error', (error) => resolve({ why: error.message }));
    child.once('exit', (code, signal) => resolve(code === null ? { why: `exit ${signal ?? ''}` } : { code }));
  });
  const closed = new Promise((resolve) => child.once('close', resolve));
  const given = new AbortController();
  const signal = AbortSignal.any([given.signal, run.signal]);
  const late = sleep(run.limitSeconds * 1_000, undefined, { signal }).then(
    (): Ended => ({ why: `it did not end within ${run.limitSeconds} s` }),
    () => (given.signal.aborted ? exited : { why: 'given up' }),
  );
  const ended = await Promise.race([exited, late]);
  given.abort();
  if (child.pid !== undefined) {
    await endGroup(child.pid, exited);
    // A process that left the group may hold the pipe, so the rest of the output is not waited for without end.
    await Promise.race([closed, sleep(STOP_LIMIT_MS, undefined, { ref: false })]);
  }
  return ended;
}

/** Ends the rest of the group: asks it to end, then kills it. */
async function endGroup(pid: number, exited: Promise<unknown>): Promise<void> {
  if (!signalGroup(pid, 'SIGTERM')) return;
  await Promise.race([exited, sleep(STOP_LIMIT_MS, undefined, { ref: false })]);
  signalGroup(pid, 'SIGKILL');
}

/** @returns whether any process of the group was still there */
function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}
