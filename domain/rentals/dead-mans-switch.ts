import { rentalLimits } from './limits.js';

/**
 * When an upstream shall end a pod by itself, should we be gone: what the wallet can pay for at its present burn, and
 * a margin, so that it never comes before the metering's own end.
 * @param fundsCents available and reserved
 * @param burnPerHourCents of all that the wallet pays for, this pod included
 */
export function endByOf(fundsCents: number, burnPerHourCents: number, nowMs: number): Date {
  const paidForMs = Math.ceil((fundsCents * 3_600_000) / Math.max(1, burnPerHourCents));
  return new Date(nowMs + Math.min(paidForMs, rentalLimits.deadManMaxMs) + rentalLimits.deadManMarginMs);
}

/**
 * Tells whether the date that the upstream has is worth renewing: it is none, or off by more than the margin and a
 * quarter of the time that is left. A call for each cent would use up the upstream's request budget.
 */
export function mustRenew(present: Date | null, wanted: Date, nowMs: number): boolean {
  if (present === null) return true;
  const offMs = Math.abs(wanted.getTime() - present.getTime());
  return offMs > Math.max(rentalLimits.deadManMarginMs / 2, (present.getTime() - nowMs) / 4);
}
