import { setTimeout as sleep } from 'node:timers/promises';
import type { Program } from '../servers/program.js';

/** A program that is started again whenever it ends without being asked to. */
export interface Supervised {
  readonly name: string;
  /** The pid of the present process; undefined between two processes. */
  pid(): number | undefined;
  /** Ends it for good. */
  stop(): Promise<void>;
  /** Kills it at once, for good. */
  kill(): void;
}

/** Times in ms; tests use shorter ones. */
export interface RestartPace {
  readonly firstMs: number;
  readonly mostMs: number;
  /** A program that ran this long is healthy: its next restart waits the first pause again. */
  readonly healthyMs: number;
}

const usualPace: RestartPace = { firstMs: 500, mostMs: 15_000, healthyMs: 60_000 };

/**
 * Starts a program and keeps it running: after each death it starts again after a pause, which doubles with each death
 * in a row, and logs a line.
 * @param start starts it and resolves when it is ready; given up when its signal fires
 * @throws what the first start throws; later failures are retried for as long as the stack stays
 */
export async function supervise(
  name: string,
  start: (signal: AbortSignal) => Promise<Program>,
  log: (line: string) => void,
  pace: RestartPace = usualPace,
): Promise<Supervised> {
  const stopping = new AbortController();
  const state: { program: Program | undefined } = { program: await start(stopping.signal) };
  const keeping = keepRunning(name, start, log, pace, { state, signal: stopping.signal });
  return {
    name,
    pid: () => state.program?.pid,
    async stop() {
      stopping.abort();
      await state.program?.stop();
      await keeping;
    },
    kill() {
      stopping.abort();
      state.program?.kill();
    },
  };
}

async function keepRunning(
  name: string,
  start: (signal: AbortSignal) => Promise<Program>,
  log: (line: string) => void,
  pace: RestartPace,
  { state, signal }: { state: { program: Program | undefined }; signal: AbortSignal },
): Promise<void> {
  let pauseMs = pace.firstMs;
  while (!signal.aborted) {
    let reason = 'it could not be started';
    if (state.program) {
      const startedAt = Date.now();
      reason = await state.program.exited;
      if (Date.now() - startedAt >= pace.healthyMs) pauseMs = pace.firstMs;
      state.program = undefined;
    }
    if (isStopping(signal)) return;
    log(`${name} died (${reason}): starting it again in ${pauseMs / 1000} s`);
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    pauseMs = Math.min(2 * pauseMs, pace.mostMs);
    if (isStopping(signal)) return;
    state.program = await startAgain(name, () => start(signal), log);
    // A stop during the start found nothing to stop.
    if (isStopping(signal)) await state.program?.stop();
  }
}

/** Read anew each time: it changes while we wait. */
function isStopping(signal: AbortSignal): boolean {
  return signal.aborted;
}

async function startAgain(
  name: string,
  start: () => Promise<Program>,
  log: (line: string) => void,
): Promise<Program | undefined> {
  try {
    const program = await start();
    log(`${name} runs again (process ${program.pid})`);
    return program;
  } catch (error) {
    log(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
