import { HOUR } from '../durations.js';
import { meteringLimits } from './limits.js';

/**
 * How long money lasts, as people are told.
 * @param fundsCents what is available and what is held for what runs: holds of machines that do not run yet pay for
 *   nothing else
 * @returns whole seconds; Infinity while nothing is spent, and 0 when nothing is left
 */
export function runwaySeconds(fundsCents: number, burnPerHourCents: number): number {
  if (fundsCents <= 0) return 0;
  if (burnPerHourCents === 0) return Infinity;
  return Number((BigInt(fundsCents) * 3_600n) / BigInt(burnPerHourCents));
}

/** The time after which money is surely over, in milliseconds, for what must not come before; Infinity as above. */
export function runwayMsAtMost(fundsCents: number, burnPerHourCents: number): number {
  return burnPerHourCents === 0 ? Infinity : Math.ceil((fundsCents * HOUR) / burnPerHourCents);
}

/** Whether a balance is low: its user is warned once for each time that it becomes so. A tick does the same in SQL. */
export function isLow(balanceCents: number, burnPerHourCents: number): boolean {
  return balanceCents * 60 < burnPerHourCents * meteringLimits.lowBalanceMinutes;
}
