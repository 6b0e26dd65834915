/** The parts in which people count, the easiest first. */
const PARTS = [2, 3, 4, 5, 10, 20, 50];
const NEAR = 0.015;

/**
 * A share as people count: 0.75 is 3 of 4. What rounds to all or none is told in hundreds, unless it is so exactly.
 * @param share from 0 to 1
 */
export function countedShare(share: number): { readonly count: number; readonly of: number } {
  const isWhole = (count: number, of: number): boolean => count === 0 || count === of;
  for (const of of PARTS) {
    const count = Math.round(share * of);
    if (Math.abs(count / of - share) <= NEAR && !isWhole(count, of)) return { count, of };
  }
  const count = share < 1 ? Math.min(99, Math.round(share * 100)) : 100;
  return isWhole(count, 100) ? { count: count / 10, of: 10 } : { count, of: 100 };
}
