/** Units of time, in milliseconds. */
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A wait as people read it, rounded up: “1 minute”, “60 minutes”. */
export function inMinutes(ms: number): string {
  const minutes = Math.ceil(ms / MINUTE);
  return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
}

/**
 * Takes a duration that whoever starts a workflow has said, who may be anybody (decision 150, "Words of the API"): it only
 * shortens, and what is no number says nothing.
 */
export function atMost(saidMs: unknown, mostMs: number): number {
  const isNumber = typeof saidMs === 'number' && !Number.isNaN(saidMs);
  return isNumber ? Math.min(Math.max(0, saidMs), mostMs) : mostMs;
}
