import { rentalLimits } from '../rentals/limits.js';
import { accruedCents } from './metering.js';

/**
 * The charge of a rental for a stretch of time (decision 94, "Refunds of an outage"). Usage is a running total
 * (decision 25, "Usage as running total"), and so is this: the charge until an instant, less the charge until an
 * earlier one. So adjacent windows add up to the cent, and all windows together are the rental's charge. Amounts in
 * whole cents.
 */

/** From one instant up to another, which is not included. */
export interface TimeWindow {
  readonly from: Date;
  readonly to: Date;
}

/** The facts of a rental that decide its charge until an instant. */
export interface ChargedRental {
  readonly pricePerHourCents: number;
  readonly runningAt: Date;
  /** null while it runs. */
  readonly endedAt: Date | null;
  readonly isSettled: boolean;
  /** The rental's charge by now, less what its settlement gave back. */
  readonly netCents: number;
  /** The last moment at which the machine was known to be alive; null when it never was. */
  readonly aliveAt: Date | null;
}

/** A refund by hand of a rental; without a window where nobody said for which time. */
export interface EarlierRefund {
  readonly amountCents: number;
  readonly window: TimeWindow | null;
}

/**
 * The charge for the time that a rental ran within a window. A cent belongs to the instant at which it had accrued in
 * full; the cent of the final rounding belongs to the end of the billing.
 */
export function chargedWithin(rental: ChargedRental, { from, to }: TimeWindow): number {
  return Math.max(0, chargedUntil(rental, to) - chargedUntil(rental, from));
}

/**
 * The part of it that stays charged whatever comes. Until a rental is settled, its machine may turn out lost. Then
 * settling gives back the charge after the machine was last seen alive, or everything when that was within the first
 * minute (decision 27, "Refund of failed machines", and decision 77, "Bill of lost machines").
 */
export function firmWithin(rental: ChargedRental, window: TimeWindow): number {
  if (rental.isSettled) return chargedWithin(rental, window);
  const { aliveAt, runningAt } = rental;
  if (aliveAt === null || aliveAt.getTime() - runningAt.getTime() <= rentalLimits.refundWindowMs) return 0;
  return chargedWithin(rental, { from: window.from, to: earlier(window.to, aliveAt) });
}

/**
 * The part of earlier refunds that was for the time within a window. A refund for another window counts as far as it
 * may have been for the time that both share; one for no certain time counts in full.
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

/**
 * The most that may be given back for a window: never more than stays charged for it, nor in all more than was charged.
 */
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
