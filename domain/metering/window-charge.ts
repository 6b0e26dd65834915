import { rentalLimits } from '../rentals/limits.js';
import { accruedCents } from './metering.js';

/**
 * What a rental was charged for a stretch of time (decision 94, "Refunds of an outage"). Usage is a running total
 * (decision 25, "Usage as running total"), and so is this: what was charged until an instant, less what was charged
 * until an earlier one. So windows that meet add up to the cent, and all of them together are what the rental was
 * charged. Amounts in whole cents.
 */

/** From an instant up to, and without, another. */
export interface TimeWindow {
  readonly from: Date;
  readonly to: Date;
}

/** What of a rental tells what it was charged until when. */
export interface ChargedRental {
  readonly pricePerHourCents: number;
  readonly runningAt: Date;
  /** null while it runs. */
  readonly endedAt: Date | null;
  readonly isSettled: boolean;
  /** What it was charged by now, less what its settlement gave back. */
  readonly netCents: number;
  /** The last moment at which its machine was known to be alive; null when it never was. */
  readonly aliveAt: Date | null;
}

/** What was given back by hand for a rental; without a window where nobody said for which time. */
export interface EarlierRefund {
  readonly amountCents: number;
  readonly window: TimeWindow | null;
}

/**
 * What was charged for the time that a rental ran within a window: a cent belongs to the instant at which it had
 * accrued in full, the cent of the final rounding to the end of its billing.
 */
export function chargedWithin(rental: ChargedRental, { from, to }: TimeWindow): number {
  return Math.max(0, chargedUntil(rental, to) - chargedUntil(rental, from));
}

/**
 * The part of it that stays charged whatever comes. Until a rental is settled its machine may turn out lost: then
 * settling gives back what was charged after the machine was last seen alive, or everything when that was within the
 * first minute (decision 27, "Refund of failed machines", and decision 77, "Bill of lost machines").
 */
export function firmWithin(rental: ChargedRental, window: TimeWindow): number {
  if (rental.isSettled) return chargedWithin(rental, window);
  const { aliveAt, runningAt } = rental;
  if (aliveAt === null || aliveAt.getTime() - runningAt.getTime() <= rentalLimits.refundWindowMs) return 0;
  return chargedWithin(rental, { from: window.from, to: earlier(window.to, aliveAt) });
}

/**
 * What of earlier refunds was for the time within a window: of one that was for another window, what may have been for
 * the time that both have; of one that was for no certain time, all.
 */
export function givenWithin(
  rental: ChargedRental,
  window: TimeWindow,
  refunds: readonly EarlierRefund[],
): number {
  return sum(
    refunds.map((refund) =>
      refund.window === null
        ? refund.amountCents
        : Math.min(refund.amountCents, chargedWithin(rental, shared(window, refund.window))),
    ),
  );
}

/** What may be given back for a window: never more than stays charged for it, nor in all more than was charged. */
export function refundableWithin(
  rental: ChargedRental,
  window: TimeWindow,
  refunds: readonly EarlierRefund[],
): number {
  const ofWindow = firmWithin(rental, window) - givenWithin(rental, window, refunds);
  const ofAll = rental.netCents - sum(refunds.map(({ amountCents }) => amountCents));
  return Math.max(0, Math.min(ofWindow, ofAll));
}

function chargedUntil({ runningAt, endedAt, pricePerHourCents, netCents }: ChargedRental, at: Date): number {
  if (endedAt !== null && at >= endedAt) return netCents;
  return Math.min(netCents, accruedCents(pricePerHourCents, at.getTime() - runningAt.getTime()));
}

function shared(one: TimeWindow, other: TimeWindow): TimeWindow {
  return { from: one.from > other.from ? one.from : other.from, to: earlier(one.to, other.to) };
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, cents) => total + cents, 0);
}
