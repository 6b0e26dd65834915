/**
 * A pause that doubles with each failure, in milliseconds (decision 69, "Items that fail").
 * @param limits.firstMs the pause without a doubling
 * @param limits.mostMs the longest pause, before the jitter
 * @param doublings from 0 on
 * @param random from 0 to 1
 */
export function growingPauseMs(
  { firstMs, mostMs }: { readonly firstMs: number; readonly mostMs: number },
  doublings: number,
  random: number,
): number {
  return withJitter(Math.min(firstMs * 2 ** Math.min(doublings, 20), mostMs), random);
}

/**
 * Makes a pause up to a fifth shorter or longer: what failed together does not come back together.
 * @param random from 0 to 1
 */
export function withJitter(ms: number, random: number): number {
  return Math.round(ms * (0.8 + 0.4 * random));
}
