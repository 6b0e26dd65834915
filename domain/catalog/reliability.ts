/**
 * What our own rows of the last days say about an upstream's machines of a family (decision 106, "Progress and
 * reliability").
 */
export const reliabilityLimits = {
  days: 30,
  /** With fewer samples nothing is said. */
  minSamples: 20,
} as const;

/** A time in whole seconds: half of the samples took no longer than p50, nine of ten no longer than p90. */
export interface Spread {
  readonly p50: number;
  readonly p90: number;
}

/** The spread of a time; null where nothing was measured, or below 20 samples. */
export function spreadOf(samples: number, p50: number | null, p90: number | null): Spread | null {
  if (p50 === null || p90 === null || samples < reliabilityLimits.minSamples) return null;
  return { p50, p90 };
}
