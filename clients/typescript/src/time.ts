import { ConnectionError } from './errors.js';

/**
 * Waits.
 * @throws the signal's reason as soon as it is aborted
 */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(reasonOf(signal));
      return;
    }
    const stop = (): void => {
      clearTimeout(timer);
      reject(reasonOf(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/**
 * Gives work a deadline and the caller's signal. What does not heed the signal that it is given is left behind.
 * @throws ConnectionError when the time is over, or the reason of the caller's signal
 */
export async function within<T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted();
  const controller = new AbortController();
  const { signal } = controller;
  const stop = (): void => controller.abort(outer?.reason);
  outer?.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(() => {
    controller.abort(new ConnectionError(`No answer within ${ms / 1_000} s.`, { timedOut: true }));
  }, ms);
  try {
    return await Promise.race([work(signal), rejectedBy(signal)]);
  } catch (error) {
    throw signal.aborted ? reasonOf(signal) : error;
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', stop);
  }
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(reasonOf(signal)), { once: true });
  });
}

/** A time that grows by half to all of a factor of two with each try: callers that failed together do not return so. */
export function growingPause(tries: number, firstMs: number, maxMs: number): number {
  return Math.min(maxMs, firstMs * 2 ** (tries - 1)) * (0.5 + Math.random() / 2);
}

function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
