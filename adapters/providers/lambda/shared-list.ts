import { setTimeout as sleep } from 'node:timers/promises';
import { ProviderError, type Wait } from '../provider.js';

/**
 * Makes one reading serve all who ask at the same time. Whoever asks while one is under way gets the next one, so that
 * each answer is younger than its question: only then does a missing machine mean anything.
 */
export function shared<T>(read: () => Promise<T>): (wait?: Wait) => Promise<T> {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return (wait = {}) => {
    next ??= underWay
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        const reading = read();
        underWay = reading;
        return reading;
      });
    return within(next, wait);
  };
}

/** Gives up on a reading that others may still wait for. */
async function within<T>(reading: Promise<T>, { untilMs }: Wait): Promise<T> {
  if (untilMs === undefined || untilMs === Infinity) return reading;
  const over = new AbortController();
  const late = sleep(Math.max(0, untilMs - performance.now()), undefined, { signal: over.signal }).then(
    () => {
      throw new ProviderError('unknown', 'listing pods: there was no time left');
    },
  );
  // Rejects when it is aborted, which nobody waits for any more.
  late.catch(() => undefined);
  reading.catch(() => undefined);
  try {
    return await Promise.race([reading, late]);
  } finally {
    over.abort();
  }
}
