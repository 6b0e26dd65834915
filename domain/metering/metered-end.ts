import type { BilledRental } from '../rentals/settlement.js';
import { earliestOf } from '../rentals/settlement.js';
import type { StopReason } from '../rentals/rental.js';
import { meteringLimits } from './limits.js';
import { accruedCents, elapsedMsAtCents } from './metering.js';

/**
 * What a tick makes of a running rental (decision 25, "Usage as running total", and decision 26, "End of the money").
 * The tick engine does the same in SQL (money/metering/meter.ts), and a property test holds the two together.
 */

/** The facts of a running rental on which a tick depends. Amounts in cents. */
export interface MeteredRental extends Pick<
  BilledRental,
  'pricePerHourCents' | 'autoStopAt' | 'spendLimitAt' | 'chargedCents'
> {
  readonly runningAt: Date;
  /** Who asked for its end, and when; null: nobody. */
  readonly stop: { readonly requestedAt: Date; readonly requestedBy: StopReason } | null;
}

/** Returns the cents that have come due by a tick: for the time until now, or until the rental was stopped or a limit. */
export function dueCents(rental: MeteredRental, now: Date): number {
  const elapsedMs = owedUntil(rental, now).getTime() - rental.runningAt.getTime();
  return Math.max(0, accruedCents(rental.pricePerHourCents, elapsedMs) - rental.chargedCents);
}

/**
 * Decides whether a tick ends a rental, when, and why. The money ends in the millisecond at which what could be paid had
 * accrued; where a tick is too late to have noticed that, the rental ran on, and owes until the tick. A stop or a limit
 * ends no rental before the last cent that was charged.
 * @param rental after the tick has charged what could be paid
 * @param unpaid what was due and could not be paid, in cents, and whether an auto-topup was waited for in vain
 * @returns undefined when it goes on
 */
export function endOfMetered(
  rental: MeteredRental,
  { unpaidCents, hasWaited }: { readonly unpaidCents: number; readonly hasWaited: boolean },
  now: Date,
): { readonly at: Date; readonly reason: StopReason } | undefined {
  const until = owedUntil(rental, now);
  const accruedAt = (cents: number): Date =>
    new Date(rental.runningAt.getTime() + elapsedMsAtCents(rental.pricePerHourCents, cents));
  const paidUntil = accruedAt(rental.chargedCents);
  if (unpaidCents > 0) {
    const lateMs = now.getTime() - accruedAt(rental.chargedCents + 1).getTime();
    const isNoticed = hasWaited || lateMs <= meteringLimits.tickLateMs;
    return { at: isNoticed ? paidUntil : until, reason: 'balance_exhausted' };
  }
  const reason = reachedAt(rental, until);
  return reason && { at: paidUntil > until ? paidUntil : until, reason };
}

function owedUntil({ stop, autoStopAt, spendLimitAt }: MeteredRental, now: Date): Date {
  return earliestOf(now, stop?.requestedAt ?? null, autoStopAt, spendLimitAt);
}

function reachedAt({ stop, autoStopAt, spendLimitAt }: MeteredRental, until: Date): StopReason | undefined {
  const isReached = (at: Date | null | undefined): boolean => at?.getTime() === until.getTime();
  if (stop && isReached(stop.requestedAt)) return stop.requestedBy;
  if (isReached(autoStopAt)) return 'auto_stop';
  return isReached(spendLimitAt) ? 'spend_limit' : undefined;
}
