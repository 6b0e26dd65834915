/** Finer than any price and coarser than the noise of a price that was once a 32-bit float. */
const PARTS_OF_A_CENT = 1_000;

/**
 * Returns whole cents of a price in US dollars, fractions of a cent rounded up (decision 13, "Live listings"). It
 * ignores fractions that only the binary form of the number makes: 1.1 USD is 110 cents. null unless the price is above
 * zero, because a price of nothing is a fault and no gift.
 */
export function centsOfUsd(usd: number): number | null {
  if (!Number.isFinite(usd) || usd <= 0) return null;
  return Math.max(1, Math.ceil(Math.round(usd * 100 * PARTS_OF_A_CENT) / PARTS_OF_A_CENT));
}
