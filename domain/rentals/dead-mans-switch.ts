import { runwayMsAtMost } from '../metering/runway.js';
import { rentalLimits } from './limits.js';

/**
 * The instant at which an upstream ends a pod by itself if the service is gone: what the wallet can pay for at its
 * present burn, plus a margin, so that it never comes before the metering's own end.
 * @param fundsCents available and reserved
 * @param burnPerHourCents of all that the wallet pays for, this pod included
 */
export function endByOf(fundsCents: number, burnPerHourCents: number, nowMs: number): Date {
  const paidForMs = runwayMsAtMost(fundsCents, burnPerHourCents);
  return new Date(nowMs + Math.min(paidForMs, rentalLimits.deadManMaxMs) + rentalLimits.deadManMarginMs);
}

/**
 * Tells whether the upstream's date is worth renewing: there is none, or it is off by more than the margin and a
 * quarter of the time that is left. A call for each cent would use up the upstream's request budget.
 */
export function mustRenew(present: Date | null, wanted: Date, nowMs: number): boolean {
  if (present === null) return true;
  const offMs = Math.abs(wanted.getTime() - present.getTime());
  return offMs > Math.max(rentalLimits.deadManMarginMs / 2, (present.getTime() - nowMs) / 4);
}
