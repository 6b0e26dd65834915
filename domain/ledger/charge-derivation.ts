import { accruedCents, finalCents } from '../metering/metering.js';

/**
 * The derivation of a rental's charge, so that a stranger can check it by hand (decision 25, "Usage as running total").
 * No entry keeps the interval that it was metered for, because usage is a running total. A tick charged until the
 * earliest of its own clock (the entry's instant), the stop request and the limits. All of these are kept.
 */

/** The facts of a rental that decide its price. Amounts in cents. */
export interface PricedRental {
  readonly pricePerHourCents: number;
  readonly maxSpendCents: number | null;
  readonly runningAt: Date | null;
  readonly autoStopAt: Date | null;
  readonly spendLimitAt: Date | null;
  readonly stopRequestedAt: Date | null;
  readonly endedAt: Date | null;
}

/** `tick`: metered while it ran. `settlement`: the rest at its end. `capture`: the hold of one that failed. */
export type ChargeOccasion = 'tick' | 'settlement' | 'capture';

/** A `rental_charge` as the ledger holds it; amounts in cents, positive. */
export interface PostedCharge {
  readonly occasion: ChargeOccasion;
  readonly amountCents: number;
  readonly at: Date;
  /** The charges of the rental's entries before this one, and the instant of the last of them. */
  readonly chargedBeforeCents: number;
  readonly previousAt: Date | null;
}

export type UntilReason = 'clock' | 'stop_requested' | 'auto_stop' | 'spend_limit' | 'ended';

export interface ChargeDerivation {
  readonly occasion: ChargeOccasion;
  readonly pricePerHourCents: number;
  readonly runningAt: Date | null;
  /** The time that this entry covers; the entries before it cover what came before. */
  readonly from: Date | null;
  readonly until: Date | null;
  readonly untilWas: UntilReason | null;
  /** From runningAt to until, in milliseconds. */
  readonly elapsedMs: number;
  /** The price of elapsedMs in all. */
  readonly accruedCents: number;
  readonly chargedBeforeCents: number;
  readonly dueCents: number;
  readonly amountCents: number;
  /** The amount that was due and not charged: the wallet was empty. */
  readonly unpaidCents: number;
  /** The sums, with their numbers. */
  readonly formula: string;
}

/** Derives one charge from the rental's row, its stop request and the ledger. */
export function deriveCharge(rental: PricedRental, charge: PostedCharge): ChargeDerivation {
  if (charge.occasion === 'capture' || rental.runningAt === null) return deriveCapture(rental, charge);
  const { until, untilWas } =
    charge.occasion === 'settlement' ? endOf(rental, charge) : untilOfTick(rental, charge);
  const elapsedMs = Math.max(0, until.getTime() - rental.runningAt.getTime());
  const { cents, text } =
    charge.occasion === 'settlement' ? final(rental, elapsedMs) : accrued(rental, elapsedMs);
  const dueCents = Math.max(0, cents - charge.chargedBeforeCents);
  const unpaidCents = Math.max(0, dueCents - charge.amountCents);
  return {
    ...shared(rental, charge),
    from: earlier(charge.previousAt ?? rental.runningAt, until),
    until,
    untilWas,
    elapsedMs,
    accruedCents: cents,
    dueCents,
    unpaidCents,
    formula:
      `${text}; ${cents} - ${charge.chargedBeforeCents} charged before = ${dueCents}` +
      (unpaidCents === 0 ? '' : `; the wallet had ${charge.amountCents} of it, ${unpaidCents} were missing`),
  };
}

/** The reason of a refund to a rental that failed, or was lost (decision 27, "Refund of failed machines"). */
export interface RefundDerivation {
  readonly chargedCents: number;
  /** The price after the refund. */
  readonly finalCents: number;
  readonly refundedCents: number;
  /** The milliseconds that stay billed. */
  readonly billedMs: number;
  readonly formula: string;
}

/** Derives the automatic refund of a rental. @param chargedCents the sum of all earlier charges */
export function deriveRefund(
  rental: PricedRental & { readonly failed: boolean },
  chargedCents: number,
): RefundDerivation {
  const billedMs = rental.failed ? 0 : billed(rental);
  const price = rental.failed
    ? { cents: 0, text: 'it failed, so it costs nothing' }
    : final(rental, billedMs);
  const refundedCents = Math.max(0, chargedCents - price.cents);
  return {
    chargedCents,
    finalCents: price.cents,
    refundedCents,
    billedMs,
    formula: `${price.text}; ${chargedCents} charged - ${price.cents} = ${refundedCents} given back`,
  };
}

/** The milliseconds for which an ended rental is billed. */
export function billed({ runningAt, endedAt }: PricedRental): number {
  return runningAt === null || endedAt === null ? 0 : Math.max(0, endedAt.getTime() - runningAt.getTime());
}

/** The final price of so many milliseconds, with the sum in words. */
export function final(
  { pricePerHourCents, maxSpendCents }: Pick<PricedRental, 'pricePerHourCents' | 'maxSpendCents'>,
  elapsedMs: number,
): { cents: number; text: string } {
  const cents = finalCents(pricePerHourCents, elapsedMs, maxSpendCents);
  const rounded = finalCents(pricePerHourCents, elapsedMs, null);
  const sum = `round(${product(pricePerHourCents, elapsedMs)}) = ${rounded}`;
  return {
    cents,
    text: maxSpendCents === null ? sum : `min(${maxSpendCents} spend limit, ${sum}) = ${cents}`,
  };
}

function accrued({ pricePerHourCents }: PricedRental, elapsedMs: number): { cents: number; text: string } {
  const cents = accruedCents(pricePerHourCents, elapsedMs);
  return { cents, text: `floor(${product(pricePerHourCents, elapsedMs)}) = ${cents}` };
}

/** "3992 cents/h x 100000 ms / 3600000 ms/h = 110.8888". The digits are cut off, not rounded. */
function product(pricePerHourCents: number, elapsedMs: number): string {
  const tenThousandths = (BigInt(pricePerHourCents) * BigInt(elapsedMs) * 10_000n) / 3_600_000n;
  const digits = tenThousandths.toString().padStart(5, '0');
  return `${pricePerHourCents} cents/h x ${elapsedMs} ms / 3600000 ms/h = ${digits.slice(0, -4)}.${digits.slice(-4)}`;
}

function deriveCapture(rental: PricedRental, charge: PostedCharge): ChargeDerivation {
  return {
    ...shared(rental, charge),
    from: rental.runningAt,
    until: rental.endedAt,
    untilWas: rental.endedAt === null ? null : 'ended',
    elapsedMs: billed(rental),
    accruedCents: charge.chargedBeforeCents + charge.amountCents,
    dueCents: charge.amountCents,
    unpaidCents: 0,
    formula: `the rest of the hold of the first hour, ${charge.amountCents}, which the refund gives back`,
  };
}

function shared({ pricePerHourCents, runningAt }: PricedRental, charge: PostedCharge) {
  const { occasion, amountCents, chargedBeforeCents } = charge;
  return { occasion, pricePerHourCents, runningAt, amountCents, chargedBeforeCents };
}

function endOf({ endedAt }: PricedRental, { at }: PostedCharge): { until: Date; untilWas: UntilReason } {
  return endedAt === null ? { until: at, untilWas: 'clock' } : { until: endedAt, untilWas: 'ended' };
}

/**
 * The instant until which a tick charged. A stop that was requested during the tick may have been committed too late
 * for it to see. Then the tick charged beyond the stop, and the end is no earlier (meter.ts).
 */
function untilOfTick(rental: PricedRental, charge: PostedCharge): { until: Date; untilWas: UntilReason } {
  const instants: { until: Date; untilWas: UntilReason }[] = [{ until: charge.at, untilWas: 'clock' }];
  if (rental.autoStopAt) instants.push({ until: rental.autoStopAt, untilWas: 'auto_stop' });
  if (rental.spendLimitAt) instants.push({ until: rental.spendLimitAt, untilWas: 'spend_limit' });
  const unasked = earliest(instants);
  if (!rental.stopRequestedAt) return unasked;
  const stop = { until: rental.stopRequestedAt, untilWas: 'stop_requested' as const };
  const asked: { until: Date; untilWas: UntilReason } = stop.until < unasked.until ? stop : unasked;
  const elapsedMs = asked.until.getTime() - (rental.runningAt?.getTime() ?? 0);
  const coversIt =
    accruedCents(rental.pricePerHourCents, elapsedMs) >= charge.chargedBeforeCents + charge.amountCents;
  return coversIt ? asked : unasked;
}

function earliest(instants: { until: Date; untilWas: UntilReason }[]): {
  until: Date;
  untilWas: UntilReason;
} {
  return instants.reduce((first, next) => (next.until < first.until ? next : first));
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}
