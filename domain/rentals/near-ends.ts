import { rentalLimits } from './limits.js';

/**
 * Whether the end of a running machine is so near that its user is warned. One that was set for a shorter time than that is
 * no news. The service looks for them in SQL (adapters/postgres/rentals/near-ends.ts), and a test holds the two together.
 * @param at when it ends; null: nothing ends it
 */
export function isEndNear(at: Date | null, runningAt: Date, now: Date): at is Date {
  const { warnBeforeMs } = rentalLimits;
  const leftMs = Number(at) - now.getTime();
  return leftMs > 0 && leftMs <= warnBeforeMs && Number(at) > runningAt.getTime() + warnBeforeMs;
}
