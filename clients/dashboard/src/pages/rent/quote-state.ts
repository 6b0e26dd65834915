import type { Quote } from '@gpu-rental/client';

/** A quote with what this page knows of it besides. */
export interface HeldQuote {
  readonly quote: Quote;
  /** By this browser's clock. */
  readonly expiresAtMs: number;
  /** The price that was shown before for the same choices, where it was another one. */
  readonly changedFromCents: number | undefined;
}

/** How long the service holds a price. */
const HOLD_MS = 60_000;

/**
 * Takes a quote that was told just now.
 * @param before the one that was shown for the same choices
 */
export function holdQuote(quote: Quote, before: HeldQuote | undefined, nowMs: number): HeldQuote {
  const leftMs = Date.parse(quote.expiresAt) - nowMs;
  // A browser whose clock is wrong counts a whole minute from the answer on: the service decides in the end.
  const isBelievable = leftMs > 0 && leftMs <= HOLD_MS;
  const beforeCents = before?.quote.pricePerHourCents;
  return {
    quote,
    expiresAtMs: nowMs + (isBelievable ? leftMs : HOLD_MS),
    changedFromCents:
      beforeCents === quote.pricePerHourCents ? before?.changedFromCents : (beforeCents ?? undefined),
  };
}

/** Whole seconds for which the price still holds. */
export function secondsLeft({ expiresAtMs }: HeldQuote, nowMs: number): number {
  // The page's clock ticks once a second, and may be that much behind.
  return Math.max(0, Math.min(HOLD_MS / 1_000, Math.ceil((expiresAtMs - nowMs) / 1_000)));
}
