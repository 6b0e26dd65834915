import { percentile, round } from './report.js';

/** What turns differ by: a figure of two sides that took turns, which says how sure it is. */
export interface Spread {
  readonly p50: number;
  readonly least: number;
  readonly most: number;
}

/** The middle, the least and the most of what a turn of one side is of the other side's in the same round. */
export function spreadOf<Turn>(
  ours: readonly Turn[],
  others: readonly Turn[],
  of: (mine: Turn, other: Turn) => number,
): Spread {
  const all = ours.flatMap((mine, index) => {
    const other = others[index];
    return other === undefined ? [] : [of(mine, other)];
  });
  return {
    p50: round(percentile(all, 0.5), 2),
    least: round(Math.min(...all), 2),
    most: round(Math.max(...all), 2),
  };
}
