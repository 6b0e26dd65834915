/**
 * The price of a machine, as a function of its rate and of instants only (decision 25, "Usage as running total"). The
 * tick engine does the same sums in SQL (money/metering/meter.ts); a property test holds the two together.
 *
 * Amounts are whole cents, times are whole milliseconds. BigInt keeps the product rate × elapsed exact.
 */
const MS_PER_HOUR = 3_600_000n;

/** Whole cents accrued after elapsedMs: the most that ticks may charge in all. Never below 0. */
export function accruedCents(pricePerHourCents: number, elapsedMs: number): number {
  if (elapsedMs <= 0) return 0;
  return Number((BigInt(pricePerHourCents) * BigInt(elapsedMs)) / MS_PER_HOUR);
}

/** Thousandths of a cent that have accrued beyond the charged cents: shown as pendingMillicents. Never below 0. */
export function pendingMillicents(
  pricePerHourCents: number,
  elapsedMs: number,
  chargedCents: number,
): number {
  const millicents = (BigInt(pricePerHourCents) * BigInt(elapsedMs) * 1000n) / MS_PER_HOUR;
  return Math.max(0, Number(millicents) - chargedCents * 1000);
}

/**
 * The final price of elapsedMs, rounded half up and capped by the renter's spend limit:
 * min(maxSpend, round(rate × elapsed)).
 */
export function finalCents(
  pricePerHourCents: number,
  elapsedMs: number,
  maxSpendCents: number | null,
): number {
  const elapsed = BigInt(Math.max(0, elapsedMs));
  const rounded = Number((2n * BigInt(pricePerHourCents) * elapsed + MS_PER_HOUR) / (2n * MS_PER_HOUR));
  return maxSpendCents === null ? rounded : Math.min(maxSpendCents, rounded);
}

/** The first millisecond of running at which this many whole cents have accrued. */
export function elapsedMsAtCents(pricePerHourCents: number, cents: number): number {
  const rate = BigInt(pricePerHourCents);
  return Number((BigInt(cents) * MS_PER_HOUR + rate - 1n) / rate);
}

/** The last millisecond of running whose final price is at most this many cents, when no limit caps it. */
export function longestMsAt(pricePerHourCents: number, cents: number): number {
  const rate = 2n * BigInt(pricePerHourCents);
  const next = (2n * BigInt(cents) + 1n) * MS_PER_HOUR;
  return Number((next + rate - 1n) / rate) - 1;
}
