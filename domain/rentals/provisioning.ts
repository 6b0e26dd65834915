import { rentalLimits } from './limits.js';

/**
 * How long a machine may take until its SSH daemon answers, in milliseconds (decision 76, "Boot deadlines and fit"):
 * the usual time at its upstream; where the offer states its longest boot time, twice that, within bounds.
 * @param usualMs the upstream's own (Provider.provisionDeadlineMs)
 * @param maxBootMs null when the offer states none
 */
export function provisionDeadlineMs(usualMs: number, maxBootMs: number | null): number {
  if (maxBootMs === null) return usualMs;
  return Math.max(usualMs, Math.min(2 * maxBootMs, rentalLimits.provisionDeadlineMaxMs));
}
