import { finalCents } from '../metering/metering.js';
import { runwaySeconds } from '../metering/runway.js';

/** The limits of a rental that bound its cost. */
export interface CostLimits {
  readonly autoStopAfterMs: number | null;
  readonly maxSpendCents: number | null;
}

/**
 * The most that a rental with these limits is ever charged, in cents: its final price when it ends at the limit that
 * is reached first (decision 25, "Usage as running total"). Every shorter run, and every lower price, comes to as much
 * or less.
 * @returns null without a limit: then nothing but the wallet bounds it
 */
export function worstCaseCents(
  pricePerHourCents: number,
  { autoStopAfterMs, maxSpendCents }: CostLimits,
): number | null {
  if (autoStopAfterMs === null) return maxSpendCents;
  return finalCents(pricePerHourCents, autoStopAfterMs, maxSpendCents);
}

/** The limits of a rental, and from when on its time counts. */
export interface RunningLimits extends CostLimits {
  readonly runningAt: Date | null;
  readonly autoStopAt: Date | null;
}

/** The most that a rental which was opened is ever charged, in cents; null without a limit. */
export function worstCaseOf(pricePerHourCents: number, limits: RunningLimits): number | null {
  const { runningAt, autoStopAt, maxSpendCents } = limits;
  const autoStopAfterMs =
    runningAt === null || autoStopAt === null
      ? limits.autoStopAfterMs
      : autoStopAt.getTime() - runningAt.getTime();
  return worstCaseCents(pricePerHourCents, { autoStopAfterMs, maxSpendCents });
}

/** What a wallet has, and what already runs on it. Amounts in cents. */
export interface Funds {
  readonly availableCents: number;
  /** The rest of the holds of the running rentals. */
  readonly holdsCents: number;
  readonly burnPerHourCents: number;
}

/** What a rental would leave of a wallet. */
export interface Afterwards {
  /** What is available once an hour of it is held; below 0 when that hour can't be paid. */
  readonly walletAfterCents: number;
  /** How much you have to add first; 0 when your balance suffices. */
  readonly missingCents: number;
  /** How long the money lasts, in whole seconds, while the rental and all that runs now run on. */
  readonly runwaySecondsAfter: number;
}

/** Computes what a rental would leave of a wallet, as GET /v1/billing/balance would then tell it. */
export function afterwards(pricePerHourCents: number, funds: Funds): Afterwards {
  const { availableCents, holdsCents, burnPerHourCents } = funds;
  return {
    walletAfterCents: availableCents - pricePerHourCents,
    missingCents: Math.max(0, pricePerHourCents - availableCents),
    runwaySecondsAfter: runwaySeconds(availableCents + holdsCents, burnPerHourCents + pricePerHourCents),
  };
}
