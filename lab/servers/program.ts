import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { drop, keep } from './keeper.js';

/** The plan of one child process: how it starts, shows that it is ready, and stops. */
export interface ProgramPlan {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly logFile: string;
  /** Runs it as this user; only root may set it. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Called every 100 ms until it returns true. `logged` returns the program's output since its start. */
  readonly isReady: (logged: () => string) => Promise<boolean> | boolean;
  readonly readyLimitMs: number;
  readonly stopSignal: 'SIGINT' | 'SIGTERM';
  readonly stopLimitMs: number;
  /** Gives up a start that is under way. */
  readonly signal?: AbortSignal | undefined;
}

/** A child process that is ready. */
export interface Program {
  readonly pid: number;
  /** Settles when the process has ended, for any reason, with words for it ("exit code 1"). Never rejects. */
  readonly exited: Promise<string>;
  /** Asks it to end, and kills it once its time limit has passed. Resolves when it is gone. */
  stop(): Promise<void>;
  /** Kills it and its process group at once. */
  kill(): void;
}

/** Thrown when a program can't be started; the message carries its last lines and the path of its log. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

const maxLogBytes = 10 * 1024 * 1024;
const readyPollMs = 100;
const shownLogLines = 20;

/**
 * Starts a program in a process group of its own (so that a Ctrl-C in the terminal reaches only us, and we stop
 * our children in order), with its output appended to a file, and waits until it is ready.
 * @throws ProgramError when it ends, or isn't ready within its limit
 */
export async function startProgram(plan: ProgramPlan): Promise<Program> {
  mkdirSync(dirname(plan.logFile), { recursive: true });
  const logStart = prepareLog(plan.logFile);
  const log = openSync(plan.logFile, 'a');
  const child = spawn(plan.command, [...plan.args], {
    detached: true,
    stdio: ['ignore', log, log],
    cwd: plan.cwd,
    env: plan.env,
    ...plan.user,
  });
  closeSync(log);
  const program = await watch(child, plan);
  const logged = () => readFileSync(plan.logFile).subarray(logStart).toString('utf8');
  const fault = await waitUntilReady(program, plan, logged);
  if (fault === undefined) return program;
  program.kill();
  await program.exited;
  const lines = logged().trimEnd().split('\n').slice(-shownLogLines);
  throw new ProgramError(
    [`${plan.name} ${fault}. Its last lines (all of them: ${plan.logFile}):`, ...lines].join('\n  | '),
  );
}

async function watch(child: ChildProcess, plan: ProgramPlan): Promise<Program> {
  const pid = child.pid;
  if (pid === undefined) {
    const error = await new Promise<Error>((resolve) => child.once('error', resolve));
    throw new ProgramError(`${plan.name} could not be started (${plan.command}): ${error.message}`);
  }
  keep(pid, plan.stopSignal === 'SIGINT' ? 'INT' : 'TERM');
  const state = { ended: false };
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      state.ended = true;
      drop(pid);
      resolve(signal === null ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`);
    });
  });
  const kill = () => {
    if (!state.ended) signalGroup(pid, 'SIGKILL');
  };
  const stop = async () => {
    if (state.ended) return;
    child.kill(plan.stopSignal);
    const timer = setTimeout(kill, plan.stopLimitMs);
    await exited;
    clearTimeout(timer);
  };
  return { pid, exited, stop, kill };
}

/** @returns the reason why it failed, or undefined when the program is ready */
async function waitUntilReady(
  program: Program,
  plan: ProgramPlan,
  logged: () => string,
): Promise<string | undefined> {
  const state: { ended: string | undefined } = { ended: undefined };
  void program.exited.then((reason) => (state.ended = reason));
  const deadline = performance.now() + plan.readyLimitMs;
  while (performance.now() < deadline) {
    if (plan.signal?.aborted === true) return 'was stopped while it started';
    const ready = await Promise.race([plan.isReady(logged), program.exited.then(() => false)]);
    if (state.ended !== undefined) return `ended before it was ready (${state.ended})`;
    if (ready) return undefined;
    await Promise.race([sleep(readyPollMs), program.exited]);
  }
  return `was not ready within ${plan.readyLimitMs / 1000} s`;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already, as the caller wants.
  }
}

/** Keeps one older log beside the present one, and returns the position at which this run's lines begin. */
function prepareLog(logFile: string): number {
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size < maxLogBytes) return size;
  renameSync(logFile, `${logFile}.1`);
  return 0;
}

/**
 * Asks an HTTP server whether it is up and well.
 * @returns true when it answers 2xx within a second
 */
export async function answersOk(url: string): Promise<boolean> {
  const status = await findStatus(url);
  return status !== undefined && status >= 200 && status < 300;
}

/** @returns true when an HTTP server answers within a second, with any status */
export async function answers(url: string): Promise<boolean> {
  return (await findStatus(url)) !== undefined;
}

async function findStatus(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1000), redirect: 'manual' });
    await response.body?.cancel();
    return response.status;
  } catch {
    return undefined;
  }
}
