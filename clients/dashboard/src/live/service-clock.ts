import { useNow } from './now.js';

/** Clocks that differ by more than this from one word to the next were set. */
const CLOCK_SET_MS = 2_000;

/** The service's clock less this computer's: never too much, since what was told had to come here first. */
let offsetMs: number | undefined;

/**
 * Notes the service's time. Of two words the faster one tells it better; it goes on by itself while the service is away.
 * @param readAt the instant that the service told
 * @param receivedAtMs when it came, by this computer's clock
 */
export function heardServiceTime(readAt: string, receivedAtMs: number): void {
  const toldMs = Date.parse(readAt) - receivedAtMs;
  const isSlower = offsetMs !== undefined && toldMs < offsetMs && offsetMs - toldMs <= CLOCK_SET_MS;
  if (!isSlower) offsetMs = toldMs;
}

/** The service's time at an instant of this computer's clock; the same one before anything was told. */
export function serviceTimeAt(nowMs: number): number {
  return nowMs + (offsetMs ?? 0);
}

/** The service's clock, read each so many milliseconds: what counts down to an instant that the service told. */
export function useServiceNow(everyMs?: number): number {
  return serviceTimeAt(useNow(everyMs));
}
