import { ApplicationFailure, Context, sleep } from '@temporalio/activity';
import { MINUTE } from '../domain/durations.js';

/** Reports progress: a tick, a row, an answer that came. Operators see the detail in the heartbeat. */
export type Tell = (detail: unknown) => void;

export interface Pace {
  /**
   * How long the work may go on without progress, in milliseconds. It is more than the longest step may take by its own
   * deadlines.
   */
  readonly stalledAfterMs: number;
  /** From one beat to the next, in milliseconds. Default: a second. Work that runs a thousandfold takes more. */
  readonly everyMs?: number;
}

/** One call of Temporal, the processor or an upstream, with the rows around it. */
export const ONE_CALL_MS = MINUTE;
/** Several calls in a row, or a pause between two rounds. */
export const SEVERAL_CALLS_MS = 120_000;

/**
 * Runs an activity's work and tells Temporal that it gets on. A beat is sent only while the last progress is younger
 * than the work's own limit: a timer that beats by itself would say that all is well for as long as the process lives.
 * Work that stalls is given up, and Temporal begins it again, here or at another worker. The abandoned work ends when
 * it next reports progress.
 * @throws ApplicationFailure `no_progress`, which is retried
 */
export async function withHeartbeat<T>(
  work: (tell: Tell) => Promise<T>,
  { stalledAfterMs, everyMs = 1_000 }: Pace,
): Promise<T> {
  const context = Context.current();
  const said = { detail: 'started' as unknown, beats: 0, over: false };
  const { stalled, giveUp } = watchdog();
  const timer = setInterval(() => {
    // Counts beats instead of time: while the process stood still, its work did not get on either.
    said.beats += 1;
    if (said.beats * everyMs <= stalledAfterMs) context.heartbeat(said.detail);
    else giveUp(noProgress(stalledAfterMs, said.detail));
  }, everyMs);
  const tell: Tell = (detail) => {
    if (said.over) throw noProgress(stalledAfterMs, said.detail);
    said.detail = detail;
    said.beats = 0;
    if (everyMs <= 1_000) context.heartbeat(detail);
  };
  const working = work(tell);
  try {
    return await Promise.race([working, stalled]);
  } finally {
    said.over = true;
    clearInterval(timer);
    // Nobody waits any more for work that was given up.
    working.catch(() => undefined);
  }
}

/**
 * Reads what the last heartbeat of the try before told, so that this try goes on from there. It must be told again at
 * once: the first beat of this try would forget it.
 * @param mark a property that it has
 * @returns undefined at a first try, and where something else was told
 */
export function toldBefore<Told extends object>(mark: keyof Told & string): Told | undefined {
  const details: unknown = Context.current().info.heartbeatDetails;
  return typeof details === 'object' && details !== null && mark in details ? (details as Told) : undefined;
}

/** One round of a loop. @returns the pause that follows it, in milliseconds */
export type Round = (tell: Tell) => Promise<number>;

/**
 * Runs rounds for `forMs`, each followed by the pause that it answers with, in milliseconds. However short the pause is,
 * a worker that is being shut down lets go there.
 */
export async function inRounds(forMs: number, round: Round, pace: Pace): Promise<void> {
  await inLines(forMs, [round], pace);
}

/**
 * Runs rounds of several kinds side by side for `forMs`, as `inRounds` does. Each must get on by itself: a line that
 * stalls or fails ends the others after their round.
 */
export async function inLines(forMs: number, lines: readonly Round[], pace: Pace): Promise<void> {
  const failures: unknown[] = [];
  const run = (round: Round): Promise<void> =>
    withHeartbeat(async (tell) => {
      const end = performance.now() + forMs;
      while (failures.length === 0 && performance.now() < end) await sleep(await round(tell));
    }, pace).catch((error: unknown) => void failures.push(error));
  await Promise.all(lines.map(run));
  if (failures.length > 0) throw failures[0];
}

function watchdog(): { stalled: Promise<never>; giveUp: (error: Error) => void } {
  const held: { giveUp?: (error: Error) => void } = {};
  const stalled = new Promise<never>((_resolve, reject) => {
    held.giveUp = reject;
  });
  return { stalled, giveUp: (error) => held.giveUp?.(error) };
}

function noProgress(stalledAfterMs: number, detail: unknown): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'no_progress',
    message: `no progress for ${stalledAfterMs} ms; the last was: ${JSON.stringify(detail)}`,
  });
}
