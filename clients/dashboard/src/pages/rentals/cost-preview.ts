import type { LimitedRental } from '@gpu-rental/client';

/** Tells whether a limit has been reached by now, so that it ends the rental at once. */
export function isReached(limits: LimitedRental, chargedCents: number, nowMs: number): boolean {
  const { autoStopAt, maxSpendCents, runningAt } = limits;
  if (autoStopAt !== null && Date.parse(autoStopAt) <= nowMs) return true;
  return maxSpendCents !== null && runningAt !== null && maxSpendCents <= chargedCents;
}

/** The share of a limit that is used, from 0 to 1. */
export function usedShare(used: number, limit: number): number {
  return limit <= 0 ? 1 : Math.min(1, Math.max(0, used / limit));
}
