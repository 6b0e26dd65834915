import { HOUR } from '../durations.js';
import { accruedCents, elapsedMsAtCents } from '../metering/metering.js';
import { Refusal } from '../refusal.js';
import type { IdleGuard } from './idle-guard.js';
import { rentalLimits } from './limits.js';
import { isFinal, type RentalStatus, type StopReason } from './rental.js';
import { costOfSettled } from './settlement.js';
import { lastingWords, namesIn, saysBilledWords, type RentalWords } from './words.js';

/**
 * What a user asks to change of a rental (decision 105, "Changed rentals"), as `rental_changes` keeps it: only what was
 * sent. Values are absolute, and null takes a limit away. Amounts in cents.
 */
export interface AskedChange extends Partial<RentalWords> {
  readonly maxSpendCents?: number | null;
  /** ISO instant. */
  readonly autoStopAt?: string | null;
  /** From the beginning of billing on, in milliseconds. */
  readonly autoStopAfterMs?: number | null;
  readonly idleGuard?: IdleGuard | null;
}

/** Tells whether a change asks for limits, which the rental's workflow sets under the wallet's lock. */
export function asksForLimits({ maxSpendCents, autoStopAt, autoStopAfterMs }: AskedChange): boolean {
  return maxSpendCents !== undefined || autoStopAt !== undefined || autoStopAfterMs !== undefined;
}

/** Tells whether a change may end the rental by itself. */
export function mayEnd(asked: AskedChange): boolean {
  return asksForLimits(asked) || asked.idleGuard !== undefined;
}

/** The fields of a rental that a change asks for, by their names in the API. */
export function fieldsOf(asked: AskedChange): string[] {
  return [
    ...namesIn(asked),
    ...(asked.maxSpendCents === undefined ? [] : ['maxSpendCents']),
    ...(asked.autoStopAt === undefined && asked.autoStopAfterMs === undefined ? [] : ['autoStopAt']),
    ...(asked.idleGuard === undefined ? [] : ['stopWhenIdleMinutes']),
  ];
}

/** The limits of a rental, and the instants at which they are reached. Amounts in cents. */
export interface RentalLimits {
  readonly maxSpendCents: number | null;
  readonly spendLimitAt: Date | null;
  readonly autoStopAt: Date | null;
  /** From the beginning of billing on, in milliseconds, until `autoStopAt` is known. */
  readonly autoStopAfterMs: number | null;
}

/** The limits that a change left and those that it found, as its event tells them. */
export function limitsTold(before: RentalLimits, after: RentalLimits) {
  return {
    maxSpendCents: after.maxSpendCents,
    autoStopAt: after.autoStopAt?.toISOString() ?? null,
    spendLimitAt: after.spendLimitAt?.toISOString() ?? null,
    maxSpendCentsBefore: before.maxSpendCents,
    autoStopAtBefore: before.autoStopAt?.toISOString() ?? null,
  };
}

/** The facts on which new limits depend. Amounts in cents. */
export interface ChangedRental extends RentalLimits {
  readonly pricePerHourCents: number;
  /** null while it is provisioned. */
  readonly runningAt: Date | null;
  readonly chargedCents: number;
  /** By when it must end, because the contract of its machine ends at the upstream; null when it has no end. */
  readonly latestEnd: Date | null;
}

/**
 * The limits that a change leaves. No limit lies before the present instant, nor below what has accrued by then: what
 * was used stays owed, whatever is asked for.
 * @param now by the database's clock, and no earlier than the last charge
 */
export function limitsAfter(rental: ChangedRental, asked: AskedChange, now: Date): RentalLimits {
  const stop = autoStopAfter(rental, asked, now);
  return {
    ...spendLimitAfter(rental, asked, now),
    ...stop,
    autoStopAt: bounded(stop.autoStopAt, rental, now),
  };
}

/**
 * The instants at which the limits of a rental are reached whose billing begins now. The service says the same in SQL
 * (money/rentals/rentals.ts, startRunning), and a test compares both.
 */
export function limitsAtStart(
  rental: Omit<ChangedRental, 'runningAt' | 'chargedCents'>,
  now: Date,
): Pick<RentalLimits, 'autoStopAt' | 'spendLimitAt'> {
  const { autoStopAfterMs, maxSpendCents } = rental;
  const own = rental.autoStopAt ? { autoStopAt: rental.autoStopAt.toISOString() } : { autoStopAfterMs };
  const begun = { ...rental, runningAt: now, chargedCents: 0 };
  const { autoStopAt, spendLimitAt } = limitsAfter(begun, { ...own, maxSpendCents }, now);
  return { autoStopAt, spendLimitAt };
}

/** Before it runs, the instant is not known: the beginning of its billing bounds it. */
function bounded(at: Date | null, { latestEnd, runningAt }: ChangedRental, now: Date): Date | null {
  if (latestEnd === null || runningAt === null) return at;
  const last = later(latestEnd, now);
  return at === null || at > last ? last : at;
}

function spendLimitAfter(
  rental: ChangedRental,
  { maxSpendCents: wanted }: AskedChange,
  now: Date,
): Pick<RentalLimits, 'maxSpendCents' | 'spendLimitAt'> {
  const { pricePerHourCents, runningAt, chargedCents } = rental;
  if (wanted === undefined) return { maxSpendCents: rental.maxSpendCents, spendLimitAt: rental.spendLimitAt };
  if (wanted === null) return { maxSpendCents: null, spendLimitAt: null };
  if (runningAt === null) return { maxSpendCents: wanted, spendLimitAt: null };
  // More has accrued than is charged while the money has ended and an auto-topup is awaited.
  const accrued = accruedCents(pricePerHourCents, now.getTime() - runningAt.getTime());
  const maxSpendCents = Math.max(wanted, chargedCents, accrued);
  const reachedAt = new Date(runningAt.getTime() + elapsedMsAtCents(pricePerHourCents, maxSpendCents));
  return { maxSpendCents, spendLimitAt: later(reachedAt, now) };
}

function autoStopAfter(
  rental: ChangedRental,
  { autoStopAt, autoStopAfterMs }: AskedChange,
  now: Date,
): Pick<RentalLimits, 'autoStopAt' | 'autoStopAfterMs'> {
  const { runningAt } = rental;
  if (autoStopAt === undefined && autoStopAfterMs === undefined) {
    return { autoStopAt: rental.autoStopAt, autoStopAfterMs: rental.autoStopAfterMs };
  }
  if (typeof autoStopAt === 'string') {
    const at = later(new Date(autoStopAt), now);
    // While the versions change, a worker of before counts from the beginning of billing: not much longer than asked.
    const leftMs = Math.min(Math.max(1, at.getTime() - now.getTime()), longestMs);
    return { autoStopAt: at, autoStopAfterMs: runningAt === null ? leftMs : null };
  }
  const afterMs = autoStopAfterMs ?? null;
  if (afterMs === null || runningAt === null) return { autoStopAt: null, autoStopAfterMs: afterMs };
  return { autoStopAt: later(new Date(runningAt.getTime() + afterMs), now), autoStopAfterMs: afterMs };
}

const longestMs = rentalLimits.autoStopMaxHours * HOUR;

/**
 * The last instant at which a rental may stop by itself: 720 hours from the beginning of its billing, or from now on
 * while that has not begun.
 */
export function latestAutoStop(runningAt: Date | null, now: Date): Date {
  return new Date((runningAt ?? now).getTime() + longestMs);
}

/** The facts of a rental that decide whether its limits may change. Amounts in cents. */
export interface EndingRental {
  readonly status: RentalStatus;
  readonly settledAt: Date | null;
  readonly chargedCents: number;
  readonly refundedCents: number;
  readonly releasedCents: number;
  readonly stopReason: StopReason | null;
  readonly autoStopAt: Date | null;
  readonly spendLimitAt: Date | null;
}

/**
 * The refusal of new limits, or of other words than the name and the notes, for a rental that has ended or is about to:
 * `already_stopped` once it is settled, `rental_ending` before.
 * @param isStopAsked whether somebody asked for its end
 * @returns undefined when it goes on
 */
export function refusalOfEnding(rental: EndingRental, isStopAsked: boolean, now: Date): Refusal | undefined {
  if (rental.settledAt !== null || isFinal(rental.status)) return refusalOfSettled(rental);
  const { status, stopReason, autoStopAt, spendLimitAt } = rental;
  const isReached = [autoStopAt, spendLimitAt].some((at) => at !== null && at <= now);
  // A limit of one that is provisioned lies ahead: its billing has not begun.
  const isOver = status === 'running' && isReached;
  if (status !== 'stopping' && !isStopAsked && !isOver) return undefined;
  return new Refusal('rental_ending', 'This rental is ending, so you can’t change its limits.', {
    status,
    stopReason,
  });
}

/**
 * The refusal of what is changed without the wallet: words that a final bill has fixed, or the guard of one that ends;
 * undefined where all of it may change.
 */
export function refusalOfWords(
  rental: EndingRental,
  asked: AskedChange,
  isStopAsked: boolean,
  now: Date,
): Refusal | undefined {
  const ending = asked.idleGuard === undefined ? undefined : refusalOfEnding(rental, isStopAsked, now);
  if (ending) return ending;
  return rental.settledAt !== null && saysBilledWords(asked) ? refusalOfSettled(rental) : undefined;
}

function refusalOfSettled(rental: EndingRental): Refusal {
  const cost = rental.settledAt === null ? undefined : costOfSettled(rental);
  const message = `This rental has already ended, so you can change only its ${lastingWords.join(' and ')}.`;
  return new Refusal('already_stopped', message, {
    status: rental.status,
    finalChargedCents: cost?.chargedCents ?? null,
    refundedCents: cost?.refundedCents ?? null,
  });
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}
