/** The messages of a long step while it runs. */
export interface Progress {
  /** The newest event; shown with the next line. */
  note(text: string): void;
  /** Fires when the step has used up its time. */
  readonly signal: AbortSignal;
}

export interface ProgressOptions {
  readonly what: string;
  readonly log: (line: string) => void;
  /** The time after which the step is told to stop. */
  readonly limitMs: number;
  /** Tells the step to stop before that limit. */
  readonly signal?: AbortSignal | undefined;
}

const lineEveryMs = 5000;

/**
 * Runs a long step and shows every 5 s that it still runs, for how long, and its last message.
 * @throws Error naming the limit when the limit stopped the step, else what the step throws
 */
export async function withProgress<T>(
  { what, log, limitMs, signal: outer }: ProgressOptions,
  step: (progress: Progress) => Promise<T>,
): Promise<T> {
  const startedAt = Date.now();
  const abort = new AbortController();
  const state = { last: '' };
  const elapsed = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  const ticker = setInterval(() => {
    log(`${what}: ${elapsed()}${state.last === '' ? '' : `, ${state.last}`}`);
  }, lineEveryMs);
  const timer = setTimeout(() => {
    abort.abort(new Error(`${what} was given up after ${limitMs / 1000} s`));
  }, limitMs);
  try {
    const note = (text: string) => (state.last = text.slice(0, 120));
    return await step({ note, signal: outer ? AbortSignal.any([outer, abort.signal]) : abort.signal });
  } catch (error) {
    throw abort.signal.aborted ? (abort.signal.reason as Error) : error;
  } finally {
    clearInterval(ticker);
    clearTimeout(timer);
  }
}
