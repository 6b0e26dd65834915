/** The limits of a rental, and what its cost depends on. */
export interface LimitedRental {
  readonly pricePerHourCents: number;
  /** Null before it is billed. */
  readonly runningAt: string | null;
  readonly autoStopAt: string | null;
  readonly maxSpendCents: number | null;
}

const MS_PER_HOUR = 3_600_000n;

/**
 * The most that a rental with these limits is charged, by the service's sum: its time at its rate, rounded half up.
 * @returns null without a limit, and where the time is not known because its billing has not begun
 */
export function worstCaseCents({ pricePerHourCents, runningAt, autoStopAt, maxSpendCents }: LimitedRental) {
  if (autoStopAt === null || runningAt === null) return maxSpendCents;
  const elapsedMs = BigInt(Math.max(0, Date.parse(autoStopAt) - Date.parse(runningAt)));
  const cents = Number((2n * BigInt(pricePerHourCents) * elapsedMs + MS_PER_HOUR) / (2n * MS_PER_HOUR));
  return maxSpendCents === null ? cents : Math.min(maxSpendCents, cents);
}
