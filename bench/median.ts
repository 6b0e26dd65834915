import { percentile, round } from './report.js';

/** A median of turns, and how far it may be off: the interval that holds it in 95 of 100 repetitions. */
export interface MedianOfTurns {
  readonly median: number;
  readonly low: number;
  readonly high: number;
  readonly turns: number;
}

const RESAMPLES = 4_000;

/**
 * The median of what each turn gave, with its bootstrap interval: as many turns are drawn from those that there were,
 * again and again, and of all medians of such draws the middle 95 % are kept. Few turns give a wide interval, and one
 * turn none at all: then both ends are what it gave.
 */
export function medianOfTurns(samples: readonly number[], random: () => number = Math.random): MedianOfTurns {
  const draw = (): number => samples[Math.floor(random() * samples.length)] ?? Number.NaN;
  const medians = Array.from({ length: RESAMPLES }, () => medianOf(samples.map(draw)));
  return {
    median: medianOf(samples),
    low: percentile(medians, 0.025),
    high: percentile(medians, 0.975),
    turns: samples.length,
  };
}

export function medianOf(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  return Number.isInteger(middle) ? (at(middle - 1) + at(middle)) / 2 : at(Math.floor(middle));
}

/** What each turn of one side is of the other side's in the same round. @param of what of a turn is compared */
export function ratioOfTurns<Turn>(
  ours: readonly Turn[],
  floor: readonly Turn[],
  of: (turn: Turn) => number,
): MedianOfTurns {
  return medianOfTurns(
    ours.flatMap((mine, index) => {
      const other = floor[index];
      return other === undefined ? [] : [of(mine) / of(other)];
    }),
  );
}

/** For people: the median with its interval. */
export function toldMedian({ median, low, high, turns }: MedianOfTurns): string {
  return `${round(median, 2)} (95 % of ${turns} turns' medians: ${round(low, 2)} to ${round(high, 2)})`;
}
