import { setTimeout as sleep } from 'node:timers/promises';

/** How long a test waits for something that must come. Only a failing test waits this long. */
const PATIENCE_MS = 45_000;
const LOOK_EVERY_MS = 50;
/**
 * A machine may stand still for seconds, and everything that a test waits for with it: so one look counts no more than
 * this.
 */
const LOOK_COUNTS_AT_MOST_MS = 1_000;

type Found<T> = Exclude<T, undefined | false>;

/**
 * Looks again and again until something is there.
 * @param look returns undefined or false while it is not there yet
 * @throws Error naming what was missing to the end
 */
export async function until<T>(
  what: string,
  look: () => Promise<T> | T,
  patienceMs = PATIENCE_MS,
): Promise<Found<T>> {
  let waitedMs = 0;
  for (;;) {
    const startedMs = performance.now();
    const found = await look();
    if (found !== undefined && found !== false) return found as Found<T>;
    if (waitedMs > patienceMs) throw new Error(`waited ${patienceMs} ms in vain until ${what}`);
    await sleep(LOOK_EVERY_MS);
    waitedMs += Math.min(performance.now() - startedMs, LOOK_COUNTS_AT_MOST_MS);
  }
}
