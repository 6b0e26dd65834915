const MINUTE_MS = 60_000;
/** A clock is put back by less than this, and never twice within it. */
const NEAR_MS = 180 * MINUTE_MS;

/** Tells of an instant whether the clock here shows the same time twice: in the night when it is put back. */
export function isTwice(ms: number): boolean {
  const offset = offsetAt(ms);
  const backMs = (offsetAt(ms + NEAR_MS) - offsetAt(ms - NEAR_MS)) * MINUTE_MS;
  return backMs > 0 && (offsetAt(ms - backMs) !== offset || offsetAt(ms + backMs) !== offset);
}

/** Minutes by which the clock here is behind UTC. */
const offsetAt = (ms: number): number => new Date(ms).getTimezoneOffset();
