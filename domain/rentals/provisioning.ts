import { rentalLimits } from './limits.js';

/**
 * How long a machine may take until its SSH daemon answers, in milliseconds (decision 76, "Boot deadlines and fit"):
 * what is usual at its upstream, and where the offer tells its own longest boot time twice that, within bounds.
 * @param usualMs the upstream's own (Provider.provisionDeadlineMs)
 * @param maxBootMs null when the offer does not tell
 */
export function provisionDeadlineMs(usualMs: number, maxBootMs: number | null): number {
  if (maxBootMs === null) return usualMs;
  return Math.max(usualMs, Math.min(2 * maxBootMs, rentalLimits.provisionDeadlineMaxMs));
}
