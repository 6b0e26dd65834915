import type { LimitedRental, Rental } from '@gpu-rental/client';
import { runwaySeconds } from '../../live/interpolate.js';

/** Tells whether a limit has been reached by now, so that it ends the rental at once. */
export function isReached(limits: LimitedRental, chargedCents: number, nowMs: number): boolean {
  const { autoStopAt, maxSpendCents, runningAt } = limits;
  if (autoStopAt !== null && Date.parse(autoStopAt) <= nowMs) return true;
  return maxSpendCents !== null && runningAt !== null && maxSpendCents <= chargedCents;
}

/** In how many seconds a running rental reaches its spending limit; null where it does not, or stops before. */
export function secondsToLimit(
  rental: Pick<Rental, 'autoStopAt' | 'maxSpendCents' | 'pricePerHourCents' | 'status'>,
  chargedCents: number,
  nowMs: number,
): number | null {
  const { autoStopAt, maxSpendCents, pricePerHourCents, status } = rental;
  if (status !== 'running' || maxSpendCents === null) return null;
  const left = runwaySeconds(Math.max(0, maxSpendCents - chargedCents), pricePerHourCents);
  const isLater = autoStopAt !== null && left !== null && nowMs + left * 1_000 > Date.parse(autoStopAt);
  return isLater ? null : left;
}

/** The share of a limit that is used, from 0 to 1. */
export function usedShare(used: number, limit: number): number {
  return limit <= 0 ? 1 : Math.min(1, Math.max(0, used / limit));
}
