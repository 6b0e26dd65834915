import { setTimeout as sleep } from 'node:timers/promises';

/** How long a test waits for what must come; only one that fails waits so long. */
const PATIENCE_MS = 45_000;
const LOOK_EVERY_MS = 50;

type Found<T> = Exclude<T, undefined | false>;

/**
 * Looks until something is there.
 * @param look undefined or false: not yet
 * @throws Error naming what was waited for in vain
 */
export async function until<T>(
  what: string,
  look: () => Promise<T> | T,
  patienceMs = PATIENCE_MS,
): Promise<Found<T>> {
  const endMs = Date.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found as Found<T>;
    if (Date.now() > endMs) throw new Error(`waited ${patienceMs} ms in vain until ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
}
