import { setTimeout as sleep } from 'node:timers/promises';
import type { StackUrls } from '../../lab/stack/urls.js';
import type { Api } from './api.js';
import { StoryError } from './story-error.js';

/** The parts that the story needs: a running service, an inbox, a payment processor, and an audience. */
export interface Stage {
  readonly urls: Pick<StackUrls, 'api' | 'mail' | 'processor'>;
  /** The service as this story's user calls it; it keeps the session. */
  readonly api: Api;
  /** The user's address; a new one has an empty wallet. */
  readonly email: string;
  /** Gets every line that is shown. */
  readonly log: (line: string) => void;
  /** Gives up the story when it fires. */
  readonly signal: AbortSignal;
  /** The start of the elapsed seconds, in milliseconds since the epoch. */
  readonly startedAtMs: number;
}

/** Plays one named step: prints a line with the elapsed seconds, then the step's details. */
export async function step<T>(stage: Stage, name: string, play: () => Promise<T>): Promise<T> {
  stage.signal.throwIfAborted();
  stage.log(`${elapsed(stage)}  ${name}`);
  try {
    return await play();
  } catch (error) {
    if (stage.signal.aborted) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoryError(`It failed at "${name}": ${reason}`, { cause: error });
  }
}

/** Prints a detail of the present step below its line. */
export function tell(stage: Stage, detail: string): void {
  for (const line of detail.trimEnd().split('\n')) stage.log(`${' '.repeat(10)}${line}`.trimEnd());
}

/** The seconds since the start, in the form of the stack's own lines. */
export function elapsed(stage: Pick<Stage, 'startedAtMs'>): string {
  return `${((Date.now() - stage.startedAtMs) / 1000).toFixed(1).padStart(6)} s`;
}

export interface Wait {
  /** Ends the sentence "Nothing came of waiting for …". */
  readonly what: string;
  readonly limitMs: number;
  readonly everyMs: number;
  /** The advice for when it does not come. */
  readonly advice: string;
}

/**
 * Looks again and again until there is a result.
 * @throws StoryError with the advice when the limit has passed
 */
export async function waitFor<T>(
  stage: Pick<Stage, 'signal'>,
  wait: Wait,
  look: () => Promise<T | undefined>,
): Promise<T> {
  const deadline = performance.now() + wait.limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() >= deadline) {
      throw new StoryError(`no ${wait.what} within ${wait.limitMs / 1000} s. ${wait.advice}`);
    }
    await sleep(wait.everyMs, undefined, { signal: stage.signal });
  }
}
