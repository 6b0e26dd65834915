/**
 * Money is whole US cents in a JavaScript number, which is exact far beyond any wallet (2^53 cents are
 * 90 trillion dollars). Nothing in the service computes money in fractions.
 */

/** Throws unless the value is a whole number of cents that a number holds exactly. */
export function assertCents(value: number, name: string): void {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${name} must be whole cents, got ${value}`);
}

/** Formats cents for people: 123456 -> "$1,234.56", -5 -> "-$0.05". */
export function formatUsd(cents: number): string {
  assertCents(cents, 'cents');
  const absolute = Math.abs(cents);
  const dollars = Math.trunc(absolute / 100)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
  return `${cents < 0 ? '-' : ''}$${dollars}.${(absolute % 100).toString().padStart(2, '0')}`;
}
