import { setTimeout as sleep } from 'node:timers/promises';
import { ProviderError, type Wait } from '../provider.js';

/**
 * Makes one reading serve all who ask at the same time. Whoever asks while one is under way gets the next one, so that
 * each answer is younger than its question: only then does a missing machine mean anything.
 * @param read gets what is to be told of each part that came: all who wait hear it, also of the reading before theirs
 */
export function shared<T>(
  read: (onPart: () => void) => Promise<T>,
): (wait?: Wait, tell?: () => void) => Promise<T> {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const waiting = new Set<() => void>();
  const tellAll = (): void => {
    for (const tell of waiting) tellOne(tell, waiting);
  };
  return async (wait = {}, tell) => {
    next ??= underWay
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        const reading = read(tellAll);
        underWay = reading;
        return reading;
      });
    if (tell === undefined) return within(next, wait);
    // One who asks twice waits twice.
    const mine = (): void => tell();
    waiting.add(mine);
    try {
      return await within(next, wait);
    } finally {
      waiting.delete(mine);
    }
  };
}

/** One who does not want to hear it any more does not keep the others from it. */
function tellOne(tell: () => void, waiting: Set<() => void>): void {
  try {
    tell();
  } catch {
    waiting.delete(tell);
  }
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
