import { accruedCents, finalCents } from '../metering/metering.js';
import { paymentLimits } from '../payments/limits.js';
import { rentalLimits } from './limits.js';
import type { RentalStatus } from './rental.js';

/** The facts of a rental that decide what its end costs. Amounts in cents. */
export interface BilledRental {
  readonly pricePerHourCents: number;
  readonly maxSpendCents: number | null;
  readonly runningAt: Date | null;
  /** null: nothing has ended it yet. */
  readonly endedAt: Date | null;
  readonly autoStopAt: Date | null;
  readonly spendLimitAt: Date | null;
  readonly settledAt: Date | null;
  readonly chargedCents: number;
  readonly holdCents: number;
}

/** Where the cents of a charge come from. */
export interface Funding {
  readonly fromHoldCents: number;
  readonly fromAvailableCents: number;
}

/**
 * Takes a charge from the rental's own hold first, then from what its wallet has available (decision 24, "Order of
 * funds"). What neither covers is not charged. The tick engine does the same in SQL (money/metering/meter.ts).
 */
export function fundingOf(
  dueCents: number,
  { holdCents, availableCents }: { readonly holdCents: number; readonly availableCents: number },
): Funding {
  const fromHoldCents = Math.min(dueCents, holdCents);
  return { fromHoldCents, fromAvailableCents: Math.min(dueCents - fromHoldCents, availableCents) };
}

/** What settling does with a rental's money, and what its row says from then on. Amounts in cents. */
export interface Settlement {
  /** The last charge. */
  readonly funding: Funding;
  /** Everything that was charged for it, the last charge included. */
  readonly chargedCents: number;
  /** The part of it that is given back. */
  readonly refundedCents: number;
  /** The rest of the hold. */
  readonly releasedCents: number;
  /** Usage that the money did not cover, and that an invoice asks for. */
  readonly overageCents: number;
  /** Usage that the money did not cover, and that nobody asks for. */
  readonly writtenOffCents: number;
}

/**
 * Settles a rental that has ended: charges or gives back the difference between its final price and what was metered,
 * and releases the rest of its hold (decision 25, "Usage as running total", and decision 26, "End of the money").
 * @throws Error when it has not ended
 */
export function settlementOf(
  rental: BilledRental,
  availableCents: number,
): Settlement & { readonly endedAt: Date } {
  const { pricePerHourCents, maxSpendCents, runningAt, holdCents } = rental;
  const endedAt = endWithinLimits(rental);
  const elapsedMs = runningAt === null ? 0 : endedAt.getTime() - runningAt.getTime();
  const final = finalCents(pricePerHourCents, elapsedMs, maxSpendCents);
  const funding = fundingOf(Math.max(0, final - rental.chargedCents), { holdCents, availableCents });
  const chargedCents = rental.chargedCents + funding.fromHoldCents + funding.fromAvailableCents;
  // Users owe usage that accrued and that the money did not cover. They never owe the cent that only rounding half up
  // adds (decision 26, "End of the money").
  const accrued = Math.min(final, accruedCents(pricePerHourCents, elapsedMs));
  const owed = Math.max(0, accrued - chargedCents);
  const overageCents = owed >= paymentLimits.minInvoiceCents ? owed : 0;
  return {
    ...{ endedAt, funding, chargedCents, overageCents },
    refundedCents: Math.max(0, rental.chargedCents - final),
    releasedCents: holdCents - funding.fromHoldCents,
    writtenOffCents: Math.max(0, final - chargedCents) - overageCents,
  };
}

/** The end within the limits: nobody pays beyond a limit, whoever wrote the end. */
function endWithinLimits({ endedAt, autoStopAt, spendLimitAt }: BilledRental): Date {
  if (endedAt === null) throw new Error('a rental that has not ended can’t be settled');
  return earliestOf(endedAt, autoStopAt, spendLimitAt);
}

/** What a settled rental cost and gave back: of one that failed the charges, of another the rest of its hold. */
export function costOfSettled(rental: {
  readonly status: RentalStatus;
  readonly chargedCents: number;
  readonly refundedCents: number;
  readonly releasedCents: number;
}): { readonly chargedCents: number; readonly refundedCents: number } {
  const { status, chargedCents, refundedCents, releasedCents } = rental;
  return {
    chargedCents: chargedCents - refundedCents,
    refundedCents: status === 'failed' ? refundedCents : releasedCents,
  };
}

/**
 * Settles a rental that failed: its hold is charged, and all charges are given back, so that the ledger shows it (decision
 * 27, "Refund of failed machines").
 */
export function refundOfFailed(rental: Pick<BilledRental, 'chargedCents' | 'holdCents'>): Settlement {
  const chargedCents = rental.chargedCents + rental.holdCents;
  return {
    funding: { fromHoldCents: rental.holdCents, fromAvailableCents: 0 },
    ...{ chargedCents, refundedCents: chargedCents },
    ...{ releasedCents: 0, overageCents: 0, writtenOffCents: 0 },
  };
}

/** The facts of a rental whose machine its upstream has lost. */
export interface LostRental extends BilledRental {
  /** The last moment at which the upstream showed it alive. */
  readonly lastAliveAt: Date;
  /** Whether own software was billed before anything of it answered: its renter may have made it so. */
  readonly neverAnswered: boolean;
  /** null: nobody asked for its end. */
  readonly stopAskedAt: Date | null;
  /** When the money ended of one that waits for an auto-topup; null when it does not wait. */
  readonly moneyEndedAt: Date | null;
  /** How many young machines of its wallet were refunded within a day. */
  readonly fullRefundsToday: number;
}

/** How a lost machine ends its rental. */
export type EndOfLost =
  | { readonly kind: 'unpaid'; readonly endedAt: Date }
  | { readonly kind: 'refunded'; readonly endedAt: Date; readonly error: string }
  /** `isRefused`: it is young, and no more refunds are due today. */
  | { readonly kind: 'billed'; readonly endedAt: Date; readonly error: string; readonly isRefused: boolean };

/**
 * Decides what a lost machine costs (decision 77, "Bill of lost machines"). Within the refund window it costs nothing
 * (decision 27, "Refund of failed machines"); later it costs what it did until it was last seen alive.
 * @returns undefined when something else ended it first, it never ran, or it is settled
 */
export function endOfLost(rental: LostRental): EndOfLost | undefined {
  const { runningAt, settledAt, lastAliveAt, moneyEndedAt } = rental;
  if (runningAt === null || settledAt !== null) return undefined;
  const endedAt = lastAliveAt > runningAt ? lastAliveAt : runningAt;
  const others = [rental.stopAskedAt, rental.autoStopAt, rental.spendLimitAt, rental.endedAt];
  if (others.some((at) => at !== null && at <= endedAt)) return undefined;
  if (moneyEndedAt !== null && moneyEndedAt < endedAt) return { kind: 'unpaid', endedAt: moneyEndedAt };
  const isYoung =
    !rental.neverAnswered && endedAt.getTime() - runningAt.getTime() <= rentalLimits.refundWindowMs;
  if (isYoung && rental.fullRefundsToday < rentalLimits.fullRefundsPerDay) {
    const error = 'The machine was lost within a minute of starting. You were not charged for it.';
    return { kind: 'refunded', endedAt, error };
  }
  const error = 'The provider lost the machine. You were charged until we last saw it running.';
  return { kind: 'billed', endedAt, error, isRefused: isYoung };
}

/** The earliest of instants, of which some are not known. */
export function earliestOf(first: Date, ...others: readonly (Date | null)[]): Date {
  return others.reduce<Date>((best, at) => (at !== null && at < best ? at : best), first);
}
