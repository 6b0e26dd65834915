import { MINUTE, SECOND } from '../durations.js';

/**
 * Which offers there are, how long a listing counts, and when an upstream's offers are taken out. Durations are
 * milliseconds.
 */
export const catalogLimits = {
  /** spec: Limits. */
  gpuCounts: [1, 2, 4, 8] as const,
  /** Of a listing: what asks for more is a fault. */
  mostPricePerHourCents: 10_000_000,

  /** Decision 13, "Live listings": a listing older than this is not live. */
  listingFreshMs: 2 * MINUTE,
  catalogSyncMs: 30 * SECOND,
  /** How far back prices are told (retention.ts keeps as much). */
  historyDays: 90,
  /** The API reads anew what is known of the upstreams' reliability when it is older than this. */
  reliabilityFreshMs: 30 * SECOND,
  /** What strangers are told of prices is read anew when it is older than this. */
  publicPricesMs: MINUTE,

  /**
   * The circuit breaker of an upstream: this many failures in a row take its offers out of the catalog, for a time that
   * grows with each further one.
   */
  breakAfterFailures: 5,
  breakBaseMs: 15 * SECOND,
  breakMaxMs: 5 * MINUTE,
  /** An upstream that asks for a longer pause is asked again after this: its machines must be watched. */
  rateLimitMaxMs: 15 * MINUTE,
} as const;
