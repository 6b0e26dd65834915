import { limits } from './limits.js';

/**
 * When an upstream shall end a pod by itself, should we be gone: what the wallet can pay for at its present burn, and
 * a margin, so that it never comes before the metering's own end.
 * @param fundsCents available and reserved
 * @param burnPerHourCents of all that the wallet pays for, this pod included
 */
export function endByOf(fundsCents: number, burnPerHourCents: number, nowMs: number): Date {
  const paidForMs = Math.ceil((fundsCents * 3_600_000) / Math.max(1, burnPerHourCents));
  return new Date(nowMs + Math.min(paidForMs, limits.deadManMaxMs) + limits.deadManMarginMs);
}
